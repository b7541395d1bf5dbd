import { sql } from 'drizzle-orm'
import { check, date, integer, primaryKey, uuid } from 'drizzle-orm/pg-core'
import { postrider } from './postrider.js'
import { senders } from './senders.js'

/**
 * A sender's days, in its own timezone: how much of the day's quota is booked, how much of that has gone out, and the
 * instants that were given away. Whoever plans for a sender books here first, so that any number of workers,
 * campaigns and launches share one quota.
 */
export const senderDays = postrider.table(
  'sender_days',
  {
    senderId: uuid('sender_id')
      .notNull()
      .references(() => senders.id, { onDelete: 'cascade' }),
    day: date('day', { mode: 'string' }).notNull(),
    booked: integer('booked').notNull().default(0),
    sent: integer('sent').notNull().default(0),
    /** The instants given away, in order: seconds since midnight UTC of the day. Only what keeps a gap has one. */
    slots: integer('slots')
      .array()
      .notNull()
      .default(sql`'{}'`),
  },
  (table) => [
    primaryKey({ columns: [table.senderId, table.day] }),
    check('sender_days_counts', sql`booked >= 0 and sent >= 0`),
  ],
)
