import { isId } from '../id.js'
import type { Sql } from './client.js'

export interface ApiKey {
  readonly id: string
  readonly workspaceId: string
  readonly name: string
  readonly prefix: string
  readonly scopes: readonly string[]
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
  readonly revokedAt: Date | null
}

const COLUMNS = `id, workspace_id as "workspaceId", name, prefix, scopes, created_at as "createdAt",
  last_used_at as "lastUsedAt", revoked_at as "revokedAt"`

export async function insertApiKey(
  sql: Sql,
  workspaceId: string,
  {
    id,
    name,
    prefix,
    hash,
    scopes,
  }: { id: string; name: string; prefix: string; hash: string; scopes: readonly string[] },
): Promise<ApiKey> {
  const { rows } = await sql.query<ApiKey>(
    `insert into postrider.api_keys (id, workspace_id, name, prefix, hash, scopes, created_at)
     values ($2, $1, $3, $4, $5, $6, ${sql.now}) returning ${COLUMNS}`,
    [workspaceId, id, name, prefix, hash, scopes],
  )
  return rows[0]!
}

export async function listApiKeys(sql: Sql, workspaceId: string): Promise<ApiKey[]> {
  const { rows } = await sql.query<ApiKey>(
    `select ${COLUMNS} from postrider.api_keys where workspace_id = $1 order by id desc`,
    [workspaceId],
  )
  return rows
}

/** Also a revoked one: the caller says which it was. */
export async function findApiKeyByHash(sql: Sql, hash: string): Promise<ApiKey | null> {
  const { rows } = await sql.query<ApiKey>(`select ${COLUMNS} from postrider.api_keys where hash = $1`, [hash])
  return rows[0] ?? null
}

export async function revokeApiKey(sql: Sql, workspaceId: string, id: string): Promise<ApiKey | null> {
  if (!isId(id)) return null
  const { rows } = await sql.query<ApiKey>(
    `update postrider.api_keys set revoked_at = coalesce(revoked_at, ${sql.now})
     where workspace_id = $1 and id = $2 returning ${COLUMNS}`,
    [workspaceId, id],
  )
  return rows[0] ?? null
}

/** Written now and then, not with every request. */
export async function touchApiKeys(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.query(`update postrider.api_keys set last_used_at = ${sql.now} where id = any ($1::uuid[])`, [ids])
}
