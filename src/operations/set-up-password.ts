import type { Database } from '../db/client.js'
import { findLinkOwner, useDashboardLink } from '../db/dashboard-links.js'
import { deleteSessionsOf } from '../db/dashboard-sessions.js'
import { setPassword } from '../db/dashboard-users.js'
import { ADMIN_NAME, findPasswordProblem } from '../domain/dashboard-user.js'
import { PostriderError } from '../errors.js'
import { hashToken, startSession } from './dashboard-sessions.js'
import { hashPassword } from './passwords.js'

/** With a one-time link: sets the password, ends all sessions of that user and starts one. Returns its token. */
export async function setUpPassword(
  db: Database,
  { token, password, userAgent }: { token: string; password: string; userAgent: string | null },
  adminPassword: string | null,
): Promise<string> {
  const tokenHash = hashToken(token)
  const owner = tokenHash === null ? null : await findLinkOwner(db, tokenHash)
  if (tokenHash === null || owner === null) throw spent()
  if (owner.name === ADMIN_NAME && adminPassword !== null)
    throw new PostriderError(
      'user_conflict',
      'admin logs in with POSTRIDER_ADMIN_PASSWORD as long as that is set. Use it, or start Postrider without it.',
    )
  const problem = findPasswordProblem(password, owner.name)
  if (problem !== null)
    throw new PostriderError('password_invalid', `The password ${problem}.`, {
      problems: [{ path: ['password'], detail: problem }],
    })
  const passwordHash = await hashPassword(password)
  return db.transaction(async (tx) => {
    // The user's row before the link's, as everywhere. Of two who come at once the second finds the link used.
    if (!(await setPassword(tx, owner.userId, passwordHash))) throw spent()
    if (!(await useDashboardLink(tx, tokenHash))) throw spent()
    await deleteSessionsOf(tx, { id: owner.userId, name: owner.name })
    const started = await startSession(tx, { userId: owner.userId, passwordHash }, userAgent)
    if (started === null) throw spent()
    return started
  })
}

const spent = () =>
  new PostriderError(
    'link_invalid',
    'This link was used, has expired, or was replaced by a newer one. "postrider admin link" makes another.',
  )
