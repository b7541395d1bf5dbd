import { sql } from 'drizzle-orm'
import { check, index, jsonb, smallint, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { ACTOR_KINDS } from '../../domain/audit.js'
import { postrider } from './postrider.js'

/**
 * What people did at the dashboard. A row is written before the deed and completed after it: one without a status is of
 * a deed whose end nobody recorded, because the process died, or the database was away.
 */
export const auditLog = postrider.table(
  'audit_log',
  {
    id: uuid('id').primaryKey(),
    workspaceId: uuid('workspace_id').notNull(),
    at: timestamp('at', { withTimezone: true }).notNull().defaultNow(),
    actor: text('actor').notNull(),
    actorKind: text('actor_kind', { enum: ACTOR_KINDS }).notNull(),
    /** `POST /api/campaigns/{id}/pause`. */
    action: text('action').notNull(),
    /** The same in words, as they were then. */
    summary: text('summary').notNull(),
    /** The id in the path. */
    target: text('target'),
    /** Of the answer; null while it is not known. */
    status: smallint('status'),
    /** The problem's code, if the answer was one. */
    problem: text('problem'),
    detail: jsonb('detail').notNull().default({}),
    requestId: text('request_id').notNull(),
  },
  (table) => [
    index('audit_log_newest').on(table.workspaceId, table.id),
    index('audit_log_target')
      .on(table.workspaceId, table.target, table.id)
      .where(sql`target is not null`),
    check('audit_log_actor_kind', sql`actor_kind in (${sql.raw(ACTOR_KINDS.map((kind) => `'${kind}'`).join(', '))})`),
    check('audit_log_problem', sql`problem is null or status is not null`),
  ],
)
