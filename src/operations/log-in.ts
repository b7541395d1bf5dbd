import type { Sql } from '../db/client.js'
import { findDashboardUserByName } from '../db/dashboard-users.js'
import { ADMIN_NAME, foldName } from '../domain/dashboard-user.js'
import { sameSecret } from './api-keys.js'
import { startSession } from './dashboard-sessions.js'
import { isPassword, normalize } from './passwords.js'

export interface Login {
  readonly name: string
  readonly password: string
  readonly userAgent: string | null
}

/**
 * Returns the token of a new session, or null: who asks is not told whether the name or the password was wrong, neither
 * in words nor by the time it took.
 */
export async function logIn(
  sql: Sql,
  { name, password, userAgent }: Login,
  adminPassword: string | null,
): Promise<string | null> {
  const folded = foldName(name)
  const user = await findDashboardUserByName(sql, folded ?? ADMIN_NAME)
  const isAdmin = folded === ADMIN_NAME
  const known = folded !== null && user !== null && !(isAdmin && adminPassword !== null) ? user : null
  const passwordHash = known?.passwordHash ?? null
  const matches = await isPassword(password, passwordHash)
  if (isAdmin && adminPassword !== null)
    return sameSecret(normalize(password), normalize(adminPassword))
      ? startSession(sql, { adminPassword }, userAgent)
      : null
  if (!matches || known === null || passwordHash === null) return null
  return startSession(sql, { userId: known.id, passwordHash }, userAgent)
}
