import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { ATTEMPT_OUTCOMES } from '../../domain/attempt.js'
import { FAILURE_CLASSES, PHASES } from '../../domain/failure.js'
import { postrider } from './postrider.js'

const oneOf = (words: readonly string[]) => sql.raw(words.map((word) => `'${word}'`).join(', '))

/** Every hand-over and what came of it: facts, written with the outcome, also by a worker that has lost its lease. */
export const attempts = postrider.table(
  'attempts',
  {
    actionId: uuid('action_id').notNull(),
    /** Made by the worker, so that writing an attempt twice writes it once. */
    id: uuid('id').notNull(),
    at: timestamp('at', { withTimezone: true }).notNull(),
    outcome: text('outcome', { enum: ATTEMPT_OUTCOMES }).notNull(),
    failure: text('failure', { enum: FAILURE_CLASSES }),
    phase: text('phase', { enum: PHASES }).notNull(),
    code: integer('code'),
    enhancedCode: text('enhanced_code'),
    reply: text('reply').notNull(),
    remoteHost: text('remote_host'),
    durationMs: integer('duration_ms').notNull(),
    worker: text('worker').notNull(),
    inline: boolean('inline').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.actionId, table.id] }),
    // What is settled together has one instant, which the index keeps once: a twentieth of the size of the key.
    index('attempts_at').on(table.at),
    check('attempts_outcome', sql`outcome in (${oneOf(ATTEMPT_OUTCOMES)})`),
    check('attempts_failure', sql`(failure is null) = (outcome = 'accepted')`),
    check('attempts_failure_class', sql`failure in (${oneOf(FAILURE_CLASSES)})`),
    check('attempts_phase', sql`phase in (${oneOf(PHASES)})`),
  ],
)
