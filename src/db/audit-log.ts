import type { ActorKind } from '../domain/audit.js'
import type { Sql } from './client.js'
import { storable } from './storable.js'

/** What a person sees of a deed: small facts, never bodies or secrets. */
export type AuditDetail = Readonly<Record<string, string | number | boolean | null>>

export interface AuditIntent {
  readonly id: string
  readonly actor: string
  readonly actorKind: ActorKind
  readonly action: string
  readonly summary: string
  readonly target: string | null
  readonly detail: AuditDetail
  readonly requestId: string
}

export interface AuditEntry extends AuditIntent {
  readonly at: Date
  /** Null while it is not known. */
  readonly status: number | null
  readonly problem: string | null
}

const LONGEST_TARGET = 200

/** A text that may be anything must not keep a deed from being recorded. */
const clean = (detail: AuditDetail): AuditDetail =>
  Object.fromEntries(
    Object.entries(detail).map(([name, value]) => [name, typeof value === 'string' ? storable(value) : value]),
  )

export async function insertAuditIntent(sql: Sql, workspaceId: string, intent: AuditIntent): Promise<void> {
  const { id, actor, actorKind, action, summary, target, detail, requestId } = intent
  await sql.query(
    `insert into postrider.audit_log (id, workspace_id, at, actor, actor_kind, action, summary, target, detail, request_id)
     values ($2, $1, ${sql.now}, $3, $4, $5, $6, $7, $8, $9)`,
    [
      workspaceId,
      id,
      storable(actor),
      actorKind,
      action,
      summary,
      target && storable(target).slice(0, LONGEST_TARGET),
      JSON.stringify(clean(detail)),
      requestId,
    ],
  )
}

/** `target` is what the deed made, for one that had none. */
export async function recordAuditOutcome(
  sql: Sql,
  workspaceId: string,
  id: string,
  { status, problem, target }: { status: number; problem: string | null; target: string | null },
): Promise<void> {
  await sql.query(
    `update postrider.audit_log set status = $3, problem = $4, target = coalesce(target, $5)
     where workspace_id = $1 and id = $2 and status is null`,
    [workspaceId, id, status, problem, target],
  )
}

export interface AuditFilter {
  readonly actor?: string
  /** Part of the action, or of what it is in words. */
  readonly action?: string
  readonly target?: string
}

interface Cursor {
  readonly after?: string
  readonly before?: string
  readonly limit: number
}

/** Newest first, whichever way one pages. */
export async function listAudit(
  sql: Sql,
  workspaceId: string,
  { actor, action, target }: AuditFilter,
  { after, before, limit }: Cursor,
): Promise<AuditEntry[]> {
  const values: unknown[] = [workspaceId]
  const bind = (value: unknown) => `$${values.push(value)}`
  const backwards = before !== undefined
  const conditions = [
    'workspace_id = $1',
    ...(actor === undefined ? [] : [`actor = ${bind(actor)}`]),
    ...(action === undefined ? [] : [`strpos(lower(action || ' ' || summary), ${bind(action.toLowerCase())}) > 0`]),
    ...(target === undefined ? [] : [`target = ${bind(target)}`]),
    ...(after === undefined ? [] : [`id < ${bind(after)}::uuid`]),
    ...(before === undefined ? [] : [`id > ${bind(before)}::uuid`]),
  ]
  const { rows } = await sql.query<AuditEntry>(
    `select id, at, actor, actor_kind as "actorKind", action, summary, target, status, problem, detail,
       request_id as "requestId"
     from postrider.audit_log where ${conditions.join(' and ')}
     order by id ${backwards ? 'asc' : 'desc'} limit ${bind(limit)}`,
    values,
  )
  return backwards ? rows.toReversed() : rows
}
