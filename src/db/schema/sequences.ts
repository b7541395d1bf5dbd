import { sql } from 'drizzle-orm'
import { check, index, integer, jsonb, primaryKey, text, timestamp, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { postrider } from './postrider.js'
import { workspaces } from './workspaces.js'

export const sequences = postrider.table(
  'sequences',
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
    uniqueIndex('sequences_name').on(table.workspaceId, table.name),
    index('sequences_newest').on(table.workspaceId, table.id),
  ],
)

/** Never changed: whoever walks a version walks it to the end. */
export const sequenceVersions = postrider.table(
  'sequence_versions',
  {
    sequenceId: uuid('sequence_id')
      .notNull()
      .references(() => sequences.id, { onDelete: 'cascade' }),
    version: integer('version').notNull(),
    /** Where it starts and its nodes, as src/domain/sequence.ts has them. */
    graph: jsonb('graph').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.sequenceId, table.version] }),
    check('sequence_versions_version', sql`version > 0`),
  ],
)
