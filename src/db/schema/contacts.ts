import { sql } from 'drizzle-orm'
import { check, index, jsonb, text, timestamp, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { postrider } from './postrider.js'
import { workspaces } from './workspaces.js'

/** People who can be mailed: one row per address and workspace, whatever lists they are on. */
export const contacts = postrider.table(
  'contacts',
  {
    id: uuid('id').primaryKey(),
    workspaceId: uuid('workspace_id')
      .notNull()
      .references(() => workspaces.id),
    /** As it was given. */
    address: text('address').notNull(),
    /** The address in the form addresses are compared in. */
    foldedAddress: text('folded_address').notNull(),
    name: text('name'),
    /** What templates may speak of. */
    attributes: jsonb('attributes').notNull().default({}),
    /** An IANA name; null: the sender's. */
    timezone: text('timezone'),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('contacts_address').on(table.workspaceId, table.foldedAddress),
    index('contacts_newest').on(table.workspaceId, table.id),
    check('contacts_attributes', sql`jsonb_typeof(attributes) = 'object'`),
  ],
)
