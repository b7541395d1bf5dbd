import { sql } from 'drizzle-orm'
import { index, jsonb, text, timestamp, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { postrider } from './postrider.js'

/** What was heard of an email or a contact, and what people decided about it. */
export const events = postrider.table(
  'events',
  {
    id: uuid('id').primaryKey(),
    workspaceId: uuid('workspace_id').notNull(),
    /** The email (its message), if the event is about one. */
    emailId: uuid('email_id'),
    /** Whom it is about, if that is a contact. */
    contactId: uuid('contact_id'),
    /** The teller's own id of it: told again, it is not recorded again. */
    externalId: text('external_id'),
    type: text('type').notNull(),
    payload: jsonb('payload').notNull().default({}),
    at: timestamp('at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    index('events_email').on(table.emailId, table.id),
    index('events_contact')
      .on(table.contactId, table.id)
      .where(sql`contact_id is not null`),
    uniqueIndex('events_external')
      .on(table.workspaceId, table.externalId)
      .where(sql`external_id is not null`),
    index('events_newest').on(table.workspaceId, table.id),
  ],
)
