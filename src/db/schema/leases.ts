import { sql } from 'drizzle-orm'
import { check, index, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { postrider } from './postrider.js'

/**
 * Who works on which actions until when. One row for all that was claimed together, so that renewing a lease is one
 * small write however many actions it covers. `token` fences every write to them; it is never used twice.
 */
export const leases = postrider.table(
  'leases',
  {
    token: uuid('token').primaryKey(),
    worker: text('worker').notNull(),
    leasedAt: timestamp('leased_at', { withTimezone: true }).notNull().defaultNow(),
    expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
    actionIds: uuid('action_ids').array().notNull(),
  },
  (table) => [index('leases_expires').on(table.expiresAt), check('leases_not_empty', sql`cardinality(action_ids) > 0`)],
)
