import type { DashboardRole } from '../domain/dashboard-role.js'
import { isId } from '../id.js'
import type { Sql } from './client.js'

export interface DashboardUser {
  readonly id: string
  readonly workspaceId: string
  readonly name: string
  readonly role: DashboardRole
  readonly hasPassword: boolean
  readonly createdAt: Date
  readonly disabledAt: Date | null
  /** Of a session that has not been forgotten yet. */
  readonly seenAt: Date | null
}

const COLUMNS = `id, workspace_id as "workspaceId", name, role, password_hash is not null as "hasPassword",
  created_at as "createdAt", disabled_at as "disabledAt",
  (select max(seen_at) from postrider.dashboard_sessions session where session.user_id = dashboard_users.id) as "seenAt"`

/** Null if somebody has that name, in this workspace or another. */
export async function insertDashboardUser(
  sql: Sql,
  workspaceId: string,
  { id, name, role }: { id: string; name: string; role: DashboardRole },
): Promise<DashboardUser | null> {
  const { rows } = await sql.query<DashboardUser>(
    `insert into postrider.dashboard_users (id, workspace_id, name, role, created_at) values ($2, $1, $3, $4, ${sql.now})
     on conflict (name) do nothing returning ${COLUMNS}`,
    [workspaceId, id, name, role],
  )
  return rows[0] ?? null
}

export async function listDashboardUsers(sql: Sql, workspaceId: string): Promise<DashboardUser[]> {
  const { rows } = await sql.query<DashboardUser>(
    `select ${COLUMNS} from postrider.dashboard_users where workspace_id = $1 order by id desc`,
    [workspaceId],
  )
  return rows
}

export async function findDashboardUser(sql: Sql, workspaceId: string, id: string): Promise<DashboardUser | null> {
  if (!isId(id)) return null
  const { rows } = await sql.query<DashboardUser>(
    `select ${COLUMNS} from postrider.dashboard_users where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  )
  return rows[0] ?? null
}

/** A name is unique everywhere: which workspace it belongs to is what a login wants to learn. */
export async function findDashboardUserByName(
  sql: Sql,
  name: string,
): Promise<(DashboardUser & { readonly passwordHash: string | null }) | null> {
  const { rows } = await sql.query<DashboardUser & { passwordHash: string | null }>(
    `select ${COLUMNS}, password_hash as "passwordHash" from postrider.dashboard_users where name = $1`,
    [name],
  )
  return rows[0] ?? null
}

export async function hasAnyPassword(sql: Sql): Promise<boolean> {
  const { rows } = await sql.query<{ any: boolean }>(
    `select exists (select 1 from postrider.dashboard_users where password_hash is not null) as any`,
  )
  return rows[0]!.any
}

/**
 * Lets them in again, if they were not to be, as what they are to be now. It always takes the row: of two links made at
 * once, one replaces the other.
 */
export async function enableDashboardUser(sql: Sql, id: string, role: DashboardRole | null): Promise<void> {
  await sql.query(`update postrider.dashboard_users set disabled_at = null, role = coalesce($2, role) where id = $1`, [
    id,
    role,
  ])
}

/** First of all in its transaction: whoever logs in with the old password waits here, and is then refused. */
export async function setPassword(sql: Sql, id: string, hash: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `update postrider.dashboard_users set password_hash = $2 where id = $1 and disabled_at is null`,
    [id, hash],
  )
  return rowCount > 0
}

/** First of all in its transaction, for the same reason. */
export async function disableDashboardUser(sql: Sql, workspaceId: string, id: string): Promise<boolean> {
  if (!isId(id)) return false
  const { rowCount } = await sql.query(
    `update postrider.dashboard_users set disabled_at = coalesce(disabled_at, ${sql.now}), password_hash = null
     where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  )
  return rowCount > 0
}
