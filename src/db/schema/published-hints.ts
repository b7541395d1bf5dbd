import { sql } from 'drizzle-orm'
import { bigint, check, index, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { postrider } from './postrider.js'

const instant = (name: string) => timestamp(name, { withTimezone: true })

/**
 * What a relay has handed to a broker, or is about to. An action that is named here needs no hint in `ready_actions`: a
 * worker will be told of it, or the relay's sweep finds that nobody was. One row per action, so that no action can be
 * published twice at the same time. A table of its own rather than columns of the actions, because a mark that comes
 * and goes would write every index of theirs again; and its size is what brokers hold, never the backlog or the history.
 */
export const publishedHints = postrider.table(
  'published_hints',
  {
    actionId: uuid('action_id').primaryKey(),
    laneId: uuid('lane_id').notNull(),
    runAt: instant('run_at').notNull(),
    /** Tells this publication from an earlier one of the same action: a part of the broker's job id. */
    position: bigint('position', { mode: 'bigint' }).generatedAlwaysAsIdentity(),
    /** When a relay took it for publishing; for a while nobody else does. */
    queuedAt: instant('queued_at').notNull(),
    /** When the broker confirmed it; null while that is not known. */
    publishedAt: instant('published_at'),
    jobId: text('job_id'),
  },
  (table) => [
    index('published_hints_queued').on(table.queuedAt),
    check('published_hints_job', sql`published_at is null or job_id is not null`),
  ],
)
