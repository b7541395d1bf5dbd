import { sql } from 'drizzle-orm'
import { bigint, check, primaryKey, timestamp, uuid } from 'drizzle-orm/pg-core'
import { postrider } from './postrider.js'

/**
 * What is due, as hints, ordered within a lane. A hint says "look at these actions", never "these actions may run":
 * claiming takes the hint away and then asks the actions themselves. A hint too many costs a look; an action cannot be
 * without one, because only three statements write hints (schedule-actions, promote-actions and, for the rest of one
 * that was not used up, claim-actions), each in the transaction that makes them true.
 *
 * One hint names up to HINT_SIZE actions that were scheduled together. The table is then a hundred times smaller than
 * the work that is due, and stays small under a transaction somebody else left open for an hour, which would keep a
 * queue of one row per action from being vacuumed. Its size never depends on the history or the future.
 */
export const readyActions = postrider.table(
  'ready_actions',
  {
    laneId: uuid('lane_id').notNull(),
    /** When the first of its actions was due. */
    runAt: timestamp('run_at', { withTimezone: true }).notNull(),
    position: bigint('position', { mode: 'bigint' }).generatedAlwaysAsIdentity(),
    actionIds: uuid('action_ids').array().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.laneId, table.runAt, table.position] }),
    check('ready_actions_not_empty', sql`cardinality(action_ids) > 0`),
  ],
)
