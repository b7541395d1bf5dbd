import { sql } from 'drizzle-orm'
import { check, index, integer, timestamp, uuid } from 'drizzle-orm/pg-core'
import { postrider } from './postrider.js'

/**
 * The unit of fairness, pausing and rate. A lane needs no row until somebody wants something of it: without one it is
 * open and has the defaults. Scheduling never touches this table: in library form that would make the caller's
 * transaction wait for others, and others for it.
 */
export const lanes = postrider.table(
  'lanes',
  {
    id: uuid('id').primaryKey(),
    workspaceId: uuid('workspace_id').notNull(),
    /** Its part of every round of claiming, relative to the other lanes that have work due. */
    weight: integer('weight').notNull(),
    /** Lower goes first within a round. */
    priority: integer('priority').notNull(),
    pausedAt: timestamp('paused_at', { withTimezone: true }),
    /** Held back until then, by itself: a server asked this sender to slow down. */
    heldUntil: timestamp('held_until', { withTimezone: true }),
    /** Another lane that holds this one too: a campaign stands still while its sender is paused or slowed. */
    heldWith: uuid('held_with'),
    canceledAt: timestamp('canceled_at', { withTimezone: true }),
    /** When the sweep had written `canceled` into every row that was still waiting. */
    sweptAt: timestamp('swept_at', { withTimezone: true }),
  },
  (table) => [
    index('lanes_unswept')
      .on(table.canceledAt)
      .where(sql`canceled_at is not null and swept_at is null`),
    check('lanes_weight', sql`weight between 1 and 1000`),
    check('lanes_priority', sql`priority between 0 and 100`),
    check('lanes_swept', sql`swept_at is null or canceled_at is not null`),
  ],
)
