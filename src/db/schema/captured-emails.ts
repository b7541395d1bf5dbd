import { customType, index, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { postrider } from './postrider.js'

const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' })

/** The dev inbox. Its key is the action's id: capturing one hand-over twice keeps one. */
export const capturedEmails = postrider.table(
  'captured_emails',
  {
    id: uuid('id').primaryKey(),
    workspaceId: uuid('workspace_id').notNull(),
    emailId: uuid('email_id').notNull(),
    returnPath: text('return_path').notNull(),
    recipient: text('recipient').notNull(),
    raw: bytes('raw').notNull(),
    capturedAt: timestamp('captured_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [index('captured_emails_newest').on(table.workspaceId, table.id)],
)
