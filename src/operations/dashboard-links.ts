import type { Database, Sql } from '../db/client.js'
import { replaceDashboardLink } from '../db/dashboard-links.js'
import {
  type DashboardUser,
  enableDashboardUser,
  findDashboardUserByName,
  hasAnyPassword,
  insertDashboardUser,
} from '../db/dashboard-users.js'
import type { DashboardRole } from '../domain/dashboard-role.js'
import { ADMIN_NAME } from '../domain/dashboard-user.js'
import { PostriderError } from '../errors.js'
import { DEFAULT_WORKSPACE, newId } from '../id.js'
import { hashToken, newToken } from './dashboard-sessions.js'
import { getUser, readName } from './dashboard-users.js'

const LINK_LIFE_MS = 24 * 3_600_000

/** A way in for one person, once: whoever has it chooses the password. */
export interface MadeLink {
  readonly user: DashboardUser
  readonly token: string
  readonly expiresAt: Date
}

/** In the fragment, which browsers keep to themselves: no server on the way writes it into its log. */
export const setUpUrl = (publicUrl: string, token: string): string => `${publicUrl}/admin/setup#${token}`

/** For a new user. */
export async function inviteUser(
  db: Database,
  workspaceId: string,
  { name, role }: { name: string; role: DashboardRole },
): Promise<MadeLink> {
  const folded = readName(name)
  if (folded === ADMIN_NAME) throw nameTaken()
  return db.transaction(async (tx) => {
    const made = await insertDashboardUser(tx, workspaceId, { id: newId(), name: folded, role })
    if (!made) throw nameTaken()
    return renewLink(tx, made, null)
  })
}

/** For one who is there. Who was disabled is let in again by it. */
export async function makeUserLink(db: Database, workspaceId: string, id: string): Promise<MadeLink> {
  const user = await getUser(db, workspaceId, id)
  return db.transaction((tx) => renewLink(tx, user, null))
}

/** For one who is there, or else for a new one: a viewer, unless the role says otherwise. */
export async function makeLink(
  db: Database,
  workspaceId: string,
  { name, role }: { name: string; role: DashboardRole | null },
): Promise<MadeLink> {
  const folded = readName(name)
  if (folded === ADMIN_NAME && (workspaceId !== DEFAULT_WORKSPACE || role === 'viewer'))
    throw new PostriderError('user_conflict', 'admin is an operator of the workspace default, always.')
  const newRole = role ?? (folded === ADMIN_NAME ? 'operator' : 'viewer')
  return db.transaction(async (tx) => {
    const made = await insertDashboardUser(tx, workspaceId, { id: newId(), name: folded, role: newRole })
    const user = made ?? (await findDashboardUserByName(tx, folded))!
    if (user.workspaceId !== workspaceId) throw nameTaken()
    return renewLink(tx, user, role)
  })
}

/** What `start` prints as long as nobody can log in; the one it printed before is void. Null once somebody can. */
export async function makeFirstLink(db: Database): Promise<MadeLink | null> {
  if (await hasAnyPassword(db)) return null
  return makeLink(db, DEFAULT_WORKSPACE, { name: ADMIN_NAME, role: null })
}

async function renewLink(tx: Sql, user: DashboardUser, role: DashboardRole | null): Promise<MadeLink> {
  await enableDashboardUser(tx, user.id, role)
  const token = newToken()
  const expiresAt = await replaceDashboardLink(tx, user.id, { tokenHash: hashToken(token)!, lifeMs: LINK_LIFE_MS })
  return { user: { ...user, role: role ?? user.role, disabledAt: null }, token, expiresAt }
}

/** Names are unique everywhere; whose it is, and in which workspace, is not said. */
const nameTaken = () => new PostriderError('user_conflict', 'Another user has this name.')
