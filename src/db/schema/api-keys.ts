import { sql } from 'drizzle-orm'
import { check, index, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { postrider } from './postrider.js'
import { workspaces } from './workspaces.js'

/** Only a hash is kept. A key has 256 random bits, so a fast hash is enough: there is nothing to guess. */
export const apiKeys = postrider.table(
  'api_keys',
  {
    id: uuid('id').primaryKey(),
    workspaceId: uuid('workspace_id')
      .notNull()
      .references(() => workspaces.id),
    name: text('name').notNull(),
    /** The part people may see, to tell keys apart. */
    prefix: text('prefix').notNull(),
    hash: text('hash').notNull().unique('api_keys_hash'),
    scopes: text('scopes').array().notNull(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
    lastUsedAt: timestamp('last_used_at', { withTimezone: true }),
    revokedAt: timestamp('revoked_at', { withTimezone: true }),
  },
  (table) => [
    index('api_keys_workspace').on(table.workspaceId, table.id),
    check('api_keys_scopes', sql`cardinality(scopes) > 0`),
  ],
)
