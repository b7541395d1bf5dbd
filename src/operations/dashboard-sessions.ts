import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { Sql } from '../db/client.js'
import {
  type DashboardSession,
  deleteDashboardSession,
  findDashboardSession,
  insertAdminSession,
  insertUserSession,
  touchDashboardSession,
} from '../db/dashboard-sessions.js'
import { ADMIN_NAME } from '../domain/dashboard-user.js'
import { DEFAULT_WORKSPACE } from '../id.js'
import { sameSecret } from './api-keys.js'
import { normalize } from './passwords.js'

const HOUR_MS = 3_600_000
export const SESSION_IDLE_MS = 12 * HOUR_MS
export const SESSION_LIFE_MS = 30 * 24 * HOUR_MS
/** When a session was last seen is worth a write now and then, not one per request. */
const TOUCH_MS = 60_000

/** 256 random bits, so a fast hash of them is enough: there is nothing to guess. */
export const newToken = (): string => randomBytes(32).toString('base64url')

const TOKEN = /^[\w-]{43}$/

/** Null for what cannot be a token of ours: nothing is asked of the database because somebody sent nonsense. */
export const hashToken = (token: string): string | null =>
  TOKEN.test(token) ? createHash('sha256').update(token).digest('hex') : null

/** Of no use without the token, which is not stored; with it, it tells whether the password is still the same. */
const markPassword = (token: string, password: string) =>
  createHmac('sha256', token).update(normalize(password)).digest('base64url')

/** Who logs in: a user whose stored password was shown, or whoever knows POSTRIDER_ADMIN_PASSWORD. */
export type Shown = { readonly userId: string; readonly passwordHash: string } | { readonly adminPassword: string }

/** Returns the token, which nobody else ever sees; null if the user was disabled or the password changed meanwhile. */
export async function startSession(sql: Sql, shown: Shown, userAgent: string | null): Promise<string | null> {
  const token = newToken()
  const session = { tokenHash: hashToken(token)!, lifeMs: SESSION_LIFE_MS, userAgent }
  const started =
    'userId' in shown
      ? await insertUserSession(sql, shown.userId, shown.passwordHash, session)
      : await insertAdminSession(
          sql,
          DEFAULT_WORKSPACE,
          { name: ADMIN_NAME, passwordMark: markPassword(token, shown.adminPassword) },
          session,
        )
  return started ? token : null
}

/** The session behind a token, if it is one, not over, and of a password that still counts. */
export async function findSession(
  sql: Sql,
  token: string,
  adminPassword: string | null,
): Promise<DashboardSession | null> {
  const tokenHash = hashToken(token)
  if (tokenHash === null) return null
  const session = await findDashboardSession(sql, tokenHash, { idleMs: SESSION_IDLE_MS, touchMs: TOUCH_MS })
  if (!session || !stillCounts(session, token, adminPassword)) return null
  if (session.isStale) await touchDashboardSession(sql, tokenHash, TOUCH_MS)
  return session
}

/** With POSTRIDER_ADMIN_PASSWORD set, that is the password of `admin`, and no other is. */
function stillCounts(
  { name, userId, passwordMark }: DashboardSession,
  token: string,
  adminPassword: string | null,
): boolean {
  if (userId !== null) return name !== ADMIN_NAME || adminPassword === null
  if (adminPassword === null || passwordMark === null) return false
  return sameSecret(passwordMark, markPassword(token, adminPassword))
}

export const endSession = (sql: Sql, { tokenHash }: Pick<DashboardSession, 'tokenHash'>): Promise<void> =>
  deleteDashboardSession(sql, tokenHash)
