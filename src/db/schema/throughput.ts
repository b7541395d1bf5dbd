import { sql } from 'drizzle-orm'
import { check, integer, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { postrider } from './postrider.js'

const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' })
const count = (name: string) => integer(name).notNull().default(0)

/**
 * What came of attempts, minute by minute, counted from `attempts` behind those who write them. Nothing on the way of an
 * email writes here.
 */
export const throughputMinutes = postrider.table(
  'throughput_minutes',
  {
    workspaceId: uuid('workspace_id').notNull(),
    /** Its beginning. */
    minute: instant('minute').notNull(),
    sent: count('sent'),
    failed: count('failed'),
    retried: count('retried'),
    uncertain: count('uncertain'),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.minute] }),
    check('throughput_minutes_counts', sql`sent >= 0 and failed >= 0 and retried >= 0 and uncertain >= 0`),
  ],
)

/** How far something that is counted behind the writers has come. Whoever counts holds its row. */
export const rollups = postrider.table('rollups', {
  name: text('name').primaryKey(),
  doneUntil: instant('done_until').notNull(),
})
