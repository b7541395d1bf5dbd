import { index, jsonb, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { postrider } from './postrider.js'

/** What was heard of an email after it went out, and what people decided about it. */
export const events = postrider.table(
  'events',
  {
    id: uuid('id').primaryKey(),
    workspaceId: uuid('workspace_id').notNull(),
    /** The email (its message), if the event is about one. */
    emailId: uuid('email_id'),
    type: text('type').notNull(),
    payload: jsonb('payload').notNull().default({}),
    at: timestamp('at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    index('events_email').on(table.emailId, table.id),
    index('events_newest').on(table.workspaceId, table.id),
  ],
)
