import type { ImportStatus } from '../domain/import.js'
import { isId } from '../id.js'
import type { Sql } from './client.js'
import { storable } from './storable.js'

export interface ImportCounts {
  readonly rowsRead: number
  readonly created: number
  readonly updated: number
  /** How many became members of the list. */
  readonly joined: number
  /** Rows that named an address an earlier row had named. */
  readonly repeated: number
  /** Addresses that have opted out of the list or are suppressed; they stay so. */
  readonly optedOut: number
  readonly refused: number
}

export interface ImportProblem {
  /** Of the file; the header is line 1. */
  readonly line: number
  readonly detail: string
}

export interface Import extends ImportCounts {
  readonly id: string
  readonly workspaceId: string
  readonly listId: string
  readonly status: ImportStatus
  readonly problems: readonly ImportProblem[]
  readonly failure: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** The first of them are kept; `refused` counts all. */
export const KEPT_PROBLEMS = 1_000

/** One that runs says so every half minute, however slowly its rows come. */
const SILENT_MINUTES = 3
const ABANDONED =
  'The process that ran it ended before the import did. What had been read is kept: run it again, and it merges.'

/** Nobody is there to end an import whose process has died, so whoever reads it is told what its silence means. */
const columns = (sql: Sql) => {
  const abandoned = `status = 'running' and updated_at < ${sql.now} - interval '${SILENT_MINUTES} minutes'`
  return `id, workspace_id as "workspaceId", list_id as "listId",
    case when ${abandoned} then 'failed' else status end as status,
    case when ${abandoned} then '${ABANDONED}' else failure end as failure,
    rows_read as "rowsRead", created, updated, joined, repeated, opted_out as "optedOut", refused, problems,
    created_at as "createdAt", updated_at as "updatedAt"`
}

export async function insertImport(sql: Sql, workspaceId: string, id: string, listId: string): Promise<Import> {
  const { rows } = await sql.query<Import>(
    `insert into postrider.imports (id, workspace_id, list_id, status, created_at, updated_at)
     values ($2, $1, $3, 'running', ${sql.now}, ${sql.now}) returning ${columns(sql)}`,
    [workspaceId, id, listId],
  )
  return rows[0]!
}

/** Adds what a batch came to. In the batch's own transaction, so that the counts are those of what is there. */
export async function advanceImport(
  sql: Sql,
  workspaceId: string,
  id: string,
  counts: ImportCounts,
  problems: readonly ImportProblem[],
): Promise<Import | null> {
  const { rows } = await sql.query<Import>(
    `update postrider.imports set rows_read = rows_read + $3, created = created + $4, updated = updated + $5,
       joined = joined + $6, repeated = repeated + $7, opted_out = opted_out + $8, refused = refused + $9,
       problems = problems || $10::jsonb, updated_at = ${sql.now}
     where workspace_id = $1 and id = $2 returning ${columns(sql)}`,
    [
      workspaceId,
      id,
      counts.rowsRead,
      counts.created,
      counts.updated,
      counts.joined,
      counts.repeated,
      counts.optedOut,
      counts.refused,
      JSON.stringify(problems),
    ],
  )
  return rows[0] ?? null
}

/** It is still at it. */
export async function touchImport(sql: Sql, workspaceId: string, id: string): Promise<void> {
  await sql.query(`update postrider.imports set updated_at = ${sql.now} where workspace_id = $1 and id = $2`, [
    workspaceId,
    id,
  ])
}

/** Null when its list was removed meanwhile. */
export async function finishImport(
  sql: Sql,
  workspaceId: string,
  id: string,
  failure: string | null,
): Promise<Import | null> {
  const { rows } = await sql.query<Import>(
    `update postrider.imports set status = case when $3::text is null then 'done' else 'failed' end, failure = $3,
       updated_at = ${sql.now}
     where workspace_id = $1 and id = $2 returning ${columns(sql)}`,
    [workspaceId, id, failure && storable(failure)],
  )
  return rows[0] ?? null
}

export async function findImport(sql: Sql, workspaceId: string, id: string): Promise<Import | null> {
  if (!isId(id)) return null
  const { rows } = await sql.query<Import>(
    `select ${columns(sql)} from postrider.imports where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  )
  return rows[0] ?? null
}

/** Those that ended early within a day, also by the death of whoever ran them: newest first, some of them. */
export async function findFailedImports(sql: Sql, workspaceId: string): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `select id from (
       select ${columns(sql)} from postrider.imports where workspace_id = $1 order by id desc limit 100) newest
     where status = 'failed' and "updatedAt" > ${sql.now} - interval '1 day' order by id desc limit 20`,
    [workspaceId],
  )
  return rows.map(({ id }) => id)
}

/** Newest first. */
export async function listImports(
  sql: Sql,
  workspaceId: string,
  { limit, after, before }: { readonly limit: number; readonly after?: string; readonly before?: string },
): Promise<Import[]> {
  const { rows } = await sql.query<Import>(
    `select ${columns(sql)} from postrider.imports
     where workspace_id = $1 and ($2::uuid is null or id < $2) and ($3::uuid is null or id > $3)
     order by id ${before === undefined ? 'desc' : 'asc'} limit $4`,
    [workspaceId, after ?? null, before ?? null, limit],
  )
  return before === undefined ? rows : rows.toReversed()
}
