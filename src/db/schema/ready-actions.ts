import { primaryKey, timestamp, uuid } from 'drizzle-orm/pg-core'
import { postrider } from './postrider.js'

/**
 * What is due, one hint per action, ordered within its lane. A hint says "look at this action", never "this action
 * may run": claiming takes the hint away and then asks the action itself. A hint too many costs a look; an action
 * cannot be without one, because only two statements make hints (schedule-actions, promote-actions), each in the same
 * transaction as the row. The table is as large as the work that is due, whatever the history and the future hold.
 */
export const readyActions = postrider.table(
  'ready_actions',
  {
    laneId: uuid('lane_id').notNull(),
    runAt: timestamp('run_at', { withTimezone: true }).notNull(),
    actionId: uuid('action_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.laneId, table.runAt, table.actionId] })],
)
