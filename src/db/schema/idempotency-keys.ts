import { sql } from 'drizzle-orm'
import { check, index, jsonb, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { postrider } from './postrider.js'

/**
 * What a caller's key stood for. Written in the transaction that accepts the emails: of any number of calls with one
 * key, one inserts it, and the others find what it made.
 */
export const idempotencyKeys = postrider.table(
  'idempotency_keys',
  {
    workspaceId: uuid('workspace_id').notNull(),
    key: text('key').notNull(),
    /** Of the request: the same key with another content is a mistake of the caller. */
    fingerprint: text('fingerprint').notNull(),
    emailIds: uuid('email_ids').array().notNull(),
    /** What the first call was told; null while an inline send is still under way. */
    answer: jsonb('answer'),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.key] }),
    index('idempotency_keys_created').on(table.createdAt),
    check('idempotency_keys_key', sql`length(key) between 1 and 256`),
  ],
)
