import type { Database } from '../db/client.js'
import { deleteDashboardLinks } from '../db/dashboard-links.js'
import { deleteSessionsOf } from '../db/dashboard-sessions.js'
import { type DashboardUser, disableDashboardUser, findDashboardUser } from '../db/dashboard-users.js'
import { foldName, NAME_RULE } from '../domain/dashboard-user.js'
import { PostriderError } from '../errors.js'

export function readName(name: string): string {
  const folded = foldName(name)
  if (folded === null)
    throw new PostriderError('user_invalid', `The name ${NAME_RULE}.`, {
      problems: [{ path: ['name'], detail: NAME_RULE }],
    })
  return folded
}

export async function getUser(db: Database, workspaceId: string, id: string): Promise<DashboardUser> {
  const user = await findDashboardUser(db, workspaceId, id)
  if (!user) throw new PostriderError('user_not_found', 'There is no such user.')
  return user
}

/** Out at once, in every process: what a session may do is asked of the database with every request. */
export async function disableUser(db: Database, workspaceId: string, id: string): Promise<DashboardUser> {
  const user = await getUser(db, workspaceId, id)
  await db.transaction(async (tx) => {
    await disableDashboardUser(tx, workspaceId, id)
    await deleteSessionsOf(tx, user)
    await deleteDashboardLinks(tx, id)
  })
  return getUser(db, workspaceId, id)
}
