import type { Sql } from './client.js'

export interface LinkOwner {
  readonly userId: string
  readonly name: string
  readonly workspaceId: string
}

/** Makes a link the only one of its user: an older one that was not used is void. */
export async function replaceDashboardLink(
  sql: Sql,
  userId: string,
  { tokenHash, lifeMs }: { tokenHash: string; lifeMs: number },
): Promise<Date> {
  await deleteDashboardLinks(sql, userId)
  const { rows } = await sql.query<{ expiresAt: Date }>(
    `insert into postrider.dashboard_links (token_hash, user_id, created_at, expires_at)
     values ($1, $2, ${sql.now}, ${sql.now} + $3::float8 * interval '1 millisecond') returning expires_at as "expiresAt"`,
    [tokenHash, userId, lifeMs],
  )
  return rows[0]!.expiresAt
}

export async function deleteDashboardLinks(sql: Sql, userId: string): Promise<void> {
  await sql.query(`delete from postrider.dashboard_links where user_id = $1 and used_at is null`, [userId])
}

const VALID = (sql: Sql) => `used_at is null and expires_at > ${sql.now}`

/** Whose it is, if it can still be used. */
export async function findLinkOwner(sql: Sql, tokenHash: string): Promise<LinkOwner | null> {
  const { rows } = await sql.query<LinkOwner>(
    `select owner.id as "userId", owner.name, owner.workspace_id as "workspaceId"
     from postrider.dashboard_links link join postrider.dashboard_users owner on owner.id = link.user_id
     where token_hash = $1 and ${VALID(sql)}`,
    [tokenHash],
  )
  return rows[0] ?? null
}

/** True for the one who came first: the second waits for the row, and then finds it used. */
export async function useDashboardLink(sql: Sql, tokenHash: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `update postrider.dashboard_links set used_at = ${sql.now} where token_hash = $1 and ${VALID(sql)}`,
    [tokenHash],
  )
  return rowCount > 0
}
