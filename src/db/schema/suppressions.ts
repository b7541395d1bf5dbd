import { sql } from 'drizzle-orm'
import { check, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { SUPPRESSION_REASONS, SUPPRESSION_SCOPES } from '../../domain/suppression.js'
import { postrider } from './postrider.js'

const oneOf = (words: readonly string[]) => sql.raw(words.map((word) => `'${word}'`).join(', '))

/** Addresses that must not be mailed: by anybody of the workspace (`all`), or with marketing only. */
export const suppressions = postrider.table(
  'suppressions',
  {
    workspaceId: uuid('workspace_id').notNull(),
    /** Folded. */
    address: text('address').notNull(),
    scope: text('scope', { enum: SUPPRESSION_SCOPES }).notNull(),
    reason: text('reason', { enum: SUPPRESSION_REASONS }).notNull(),
    /** What led to it, in words: the server's reply, who asked. */
    detail: text('detail'),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.address, table.scope] }),
    check('suppressions_scope', sql`scope in (${oneOf(SUPPRESSION_SCOPES)})`),
    check('suppressions_reason', sql`reason in (${oneOf(SUPPRESSION_REASONS)})`),
  ],
)
