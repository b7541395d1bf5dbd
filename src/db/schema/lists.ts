import { index, primaryKey, text, timestamp, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { contacts } from './contacts.js'
import { postrider } from './postrider.js'
import { workspaces } from './workspaces.js'

export const lists = postrider.table(
  'lists',
  {
    id: uuid('id').primaryKey(),
    workspaceId: uuid('workspace_id')
      .notNull()
      .references(() => workspaces.id),
    name: text('name').notNull(),
    description: text('description'),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [uniqueIndex('lists_name').on(table.workspaceId, table.name)],
)

/** Who is on a list. The key is the order in which a campaign walks it. */
export const listMembers = postrider.table(
  'list_members',
  {
    listId: uuid('list_id')
      .notNull()
      .references(() => lists.id, { onDelete: 'cascade' }),
    contactId: uuid('contact_id')
      .notNull()
      .references(() => contacts.id, { onDelete: 'cascade' }),
    joinedAt: timestamp('joined_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.listId, table.contactId] }),
    index('list_members_contact').on(table.contactId),
  ],
)

/**
 * Who does not want a list's mail any more. It names the address, not the member, and nothing that adds people writes
 * or deletes here: removing a contact and importing it again does not revive what somebody ended.
 */
export const optOuts = postrider.table(
  'opt_outs',
  {
    listId: uuid('list_id')
      .notNull()
      .references(() => lists.id, { onDelete: 'cascade' }),
    /** Folded. */
    address: text('address').notNull(),
    /** How it was said: by the link in a mail, by the mail program's button, by somebody here. */
    source: text('source').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.listId, table.address] })],
)
