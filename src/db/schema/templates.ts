import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, text, timestamp, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { postrider } from './postrider.js'
import { workspaces } from './workspaces.js'

export const templates = postrider.table(
  'templates',
  {
    id: uuid('id').primaryKey(),
    workspaceId: uuid('workspace_id')
      .notNull()
      .references(() => workspaces.id),
    name: text('name').notNull(),
    /** The newest one. */
    version: integer('version').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('templates_name').on(table.workspaceId, table.name),
    index('templates_newest').on(table.workspaceId, table.id),
  ],
)

/** Never changed and never removed while anything names it: a campaign goes out as it was launched. */
export const templateVersions = postrider.table(
  'template_versions',
  {
    templateId: uuid('template_id')
      .notNull()
      .references(() => templates.id, { onDelete: 'cascade' }),
    version: integer('version').notNull(),
    /** Liquid, all three. */
    subject: text('subject').notNull(),
    html: text('html'),
    text: text('text'),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.templateId, table.version] }),
    check('template_versions_body', sql`html is not null or text is not null`),
    check('template_versions_version', sql`version > 0`),
  ],
)
