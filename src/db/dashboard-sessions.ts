import type { DashboardRole } from '../domain/dashboard-role.js'
import type { Sql } from './client.js'
import { storable } from './storable.js'

export interface DashboardSession {
  readonly tokenHash: string
  readonly workspaceId: string
  /** Null for who logged in with POSTRIDER_ADMIN_PASSWORD. */
  readonly userId: string | null
  readonly passwordMark: string | null
  readonly name: string
  /** What the user is now, and not what they were when they logged in. */
  readonly role: DashboardRole
  readonly expiresAt: Date
}

interface NewSession {
  readonly tokenHash: string
  readonly lifeMs: number
  readonly userAgent: string | null
}

const LONGEST_AGENT = 300

const agentOf = ({ userAgent }: NewSession) => userAgent && storable(userAgent).slice(0, LONGEST_AGENT)

/**
 * For a user who has just shown the password behind `passwordHash`. The user's row is locked against a change of it:
 * either the change comes first and there is no session, or the session comes first and the change ends it.
 */
export async function insertUserSession(
  sql: Sql,
  userId: string,
  passwordHash: string,
  session: NewSession,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `with owner as materialized (
       select id, workspace_id, role, name from postrider.dashboard_users
       where id = $1 and password_hash = $2 and disabled_at is null for share
     )
     insert into postrider.dashboard_sessions
       (token_hash, workspace_id, user_id, role, name, created_at, seen_at, expires_at, user_agent)
     select $3, workspace_id, id, role, name, ${sql.now}, ${sql.now},
       ${sql.now} + $4::float8 * interval '1 millisecond', $5 from owner`,
    [userId, passwordHash, session.tokenHash, session.lifeMs, agentOf(session)],
  )
  return rowCount > 0
}

/** For who logged in with POSTRIDER_ADMIN_PASSWORD, unless that user was disabled. */
export async function insertAdminSession(
  sql: Sql,
  workspaceId: string,
  { name, passwordMark }: { name: string; passwordMark: string },
  session: NewSession,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `insert into postrider.dashboard_sessions
       (token_hash, workspace_id, password_mark, role, name, created_at, seen_at, expires_at, user_agent)
     select $3, $1, $2, 'operator', $4, ${sql.now}, ${sql.now}, ${sql.now} + $5::float8 * interval '1 millisecond', $6
     where not exists (select 1 from postrider.dashboard_users where name = $4 and disabled_at is not null)`,
    [workspaceId, passwordMark, session.tokenHash, name, session.lifeMs, agentOf(session)],
  )
  return rowCount > 0
}

const idle = (sql: Sql, ms: string) => `${sql.now} - ${ms}::float8 * interval '1 millisecond'`

/** One that is neither over nor idle for too long; `isStale` when it was last seen long enough ago to be written again. */
export async function findDashboardSession(
  sql: Sql,
  tokenHash: string,
  { idleMs, touchMs }: { idleMs: number; touchMs: number },
): Promise<(DashboardSession & { readonly isStale: boolean }) | null> {
  const { rows } = await sql.query<DashboardSession & { isStale: boolean }>(
    `select session.token_hash as "tokenHash", session.workspace_id as "workspaceId", session.user_id as "userId",
       session.password_mark as "passwordMark", session.name, coalesce(owner.role, session.role) as role,
       session.expires_at as "expiresAt", session.seen_at < ${idle(sql, '$3')} as "isStale"
     from postrider.dashboard_sessions session left join postrider.dashboard_users owner
       on owner.id = session.user_id or (session.user_id is null and owner.name = session.name)
     where session.token_hash = $1 and session.expires_at > ${sql.now} and session.seen_at > ${idle(sql, '$2')}
       and owner.disabled_at is null`,
    [tokenHash, idleMs, touchMs],
    { name: 'find-dashboard-session' },
  )
  return rows[0] ?? null
}

export async function touchDashboardSession(sql: Sql, tokenHash: string, touchMs: number): Promise<void> {
  await sql.query(
    `update postrider.dashboard_sessions set seen_at = ${sql.now}
     where token_hash = $1 and seen_at < ${idle(sql, '$2')}`,
    [tokenHash, touchMs],
  )
}

export async function deleteDashboardSession(sql: Sql, tokenHash: string): Promise<void> {
  await sql.query(`delete from postrider.dashboard_sessions where token_hash = $1`, [tokenHash])
}

/** All of a user, whichever password they logged in with. */
export async function deleteSessionsOf(sql: Sql, { id, name }: { id: string; name: string }): Promise<void> {
  await sql.query(`delete from postrider.dashboard_sessions where user_id = $1 or (user_id is null and name = $2)`, [
    id,
    name,
  ])
}
