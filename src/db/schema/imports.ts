import { sql } from 'drizzle-orm'
import { check, index, integer, jsonb, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { IMPORT_STATUSES } from '../../domain/import.js'
import { lists } from './lists.js'
import { postrider } from './postrider.js'

const oneOf = (words: readonly string[]) => sql.raw(words.map((word) => `'${word}'`).join(', '))

/** How far an import has come, what it made, and which rows it could not use. */
export const imports = postrider.table(
  'imports',
  {
    id: uuid('id').primaryKey(),
    workspaceId: uuid('workspace_id').notNull(),
    listId: uuid('list_id')
      .notNull()
      .references(() => lists.id, { onDelete: 'cascade' }),
    status: text('status', { enum: IMPORT_STATUSES }).notNull(),
    rowsRead: integer('rows_read').notNull().default(0),
    created: integer('created').notNull().default(0),
    updated: integer('updated').notNull().default(0),
    /** How many became members of the list. */
    joined: integer('joined').notNull().default(0),
    /** Rows that named an address an earlier row had named. */
    repeated: integer('repeated').notNull().default(0),
    /** Rows whose address has opted out of the list or is suppressed; they stay so. */
    optedOut: integer('opted_out').notNull().default(0),
    refused: integer('refused').notNull().default(0),
    /** The first of what was wrong: `[{line, detail}]`. */
    problems: jsonb('problems').notNull().default([]),
    /** Why it ended early, if it did. */
    failure: text('failure'),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    index('imports_newest').on(table.workspaceId, table.id),
    check('imports_status', sql`status in (${oneOf(IMPORT_STATUSES)})`),
    check('imports_failure', sql`(status = 'failed') = (failure is not null)`),
  ],
)
