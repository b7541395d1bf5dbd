import { z } from '@hono/zod-openapi'
import { findLinkOwner } from '../../db/dashboard-links.js'
import { findDashboardUserByName } from '../../db/dashboard-users.js'
import { listWorkspaces } from '../../db/workspaces.js'
import { DASHBOARD_ROLES } from '../../domain/dashboard-role.js'
import { ADMIN_NAME, foldName, SHORTEST_PASSWORD } from '../../domain/dashboard-user.js'
import { SCOPES } from '../../domain/scopes.js'
import { DEFAULT_WORKSPACE } from '../../id.js'
import { setUpPassword } from '../../operations/set-up-password.js'
import { endSession, findSession, hashToken } from '../../operations/dashboard-sessions.js'
import { logIn } from '../../operations/log-in.js'
import type { AppOptions } from '../app-options.js'
import { type Caller, callerOf } from '../authenticate.js'
import { type Endpoint, keyed, login, type LoginCall } from '../endpoint.js'
import { RequestError } from '../problem.js'
import { fields, text } from '../read-input.js'
import { DASHBOARD_HEADER } from '../refuse-cross-site.js'
import { clearSessionCookie, writeSessionCookie } from '../session-cookie.js'

const sessionSchema = z
  .strictObject({
    object: z.literal('session'),
    kind: z.enum(['user', 'key']).openapi({ description: 'Somebody at the dashboard, or a program with a key.' }),
    name: z.string(),
    role: z.enum(DASHBOARD_ROLES).nullable().openapi({ description: 'Null for a key.' }),
    scopes: z.array(z.enum(SCOPES)),
    workspace: z.string(),
    expires_at: z.iso.datetime().nullable().openapi({ description: 'At the latest; 12 hours of silence end it, too.' }),
  })
  .openapi('Session')

const common = { tag: 'Dashboard' } as const

const headers = { [DASHBOARD_HEADER]: '1, which no page of another site can send.' }

/** Long enough for a sentence; what is longer is not even hashed. */
const password = text(1_000)

export const dashboardLoginEndpoints: readonly Endpoint[] = [
  keyed({
    ...common,
    method: 'get',
    path: '/api/admin/session',
    scope: 'read',
    summary: 'Who is logged in',
    answers: 'Who asks, and what they may do.',
    answer: sessionSchema,
    run: ({ options, caller }) => describeSession(options, caller),
  }),
  login({
    ...common,
    method: 'post',
    path: '/api/admin/login',
    access: 'login',
    summary: 'Log in to the dashboard',
    description: 'Sets the cookie postrider_session. A name or an address that fails too often has to wait.',
    headers,
    body: fields({
      name: text(1_000).default(ADMIN_NAME).openapi({ description: 'admin, unless another is named.' }),
      password,
    }).openapi('Login'),
    example: { password: 'correct horse battery staple' },
    answers: 'The new session.',
    answer: sessionSchema,
    problems: ['login_failed'],
    async who({ options, body: { name } }) {
      const folded = foldName(name)
      const user = await findDashboardUserByName(options.context.db, folded ?? ADMIN_NAME)
      const known = folded === ADMIN_NAME || user?.name === folded ? folded : null
      return {
        claims: folded ?? '',
        name: known,
        workspaceId: known === null ? DEFAULT_WORKSPACE : (user?.workspaceId ?? DEFAULT_WORKSPACE),
      }
    },
    async run(call) {
      const { options, body, header } = call
      const asked = { ...body, userAgent: header('user-agent') ?? null }
      const token = await logIn(options.context.db, asked, options.adminPassword)
      if (token === null) throw new RequestError('login_failed', 'The name or the password is wrong.')
      return enter(call, token)
    },
  }),
  login({
    ...common,
    method: 'post',
    path: '/api/admin/setup',
    access: 'login',
    summary: 'Choose a password with a one-time link',
    description: `At least ${SHORTEST_PASSWORD} characters. Ends all other sessions of that user, and logs in.`,
    headers,
    body: fields({ token: text(1_000), password }).openapi('SetUp'),
    example: { token: 'what follows the # in the link', password: 'correct horse battery staple' },
    answers: 'The new session.',
    answer: sessionSchema,
    problems: ['link_invalid', 'password_invalid', 'user_conflict'],
    async who({ options, body: { token } }) {
      const hash = hashToken(token)
      const owner = hash === null ? null : await findLinkOwner(options.context.db, hash)
      // 256 random bits are not guessed: only the address is counted.
      return { claims: null, name: owner?.name ?? null, workspaceId: owner?.workspaceId ?? DEFAULT_WORKSPACE }
    },
    async run(call) {
      const { options, body, header } = call
      const asked = { ...body, userAgent: header('user-agent') ?? null }
      return enter(call, await setUpPassword(options.context.db, asked, options.adminPassword))
    },
  }),
  keyed({
    ...common,
    method: 'post',
    path: '/api/admin/logout',
    scope: 'read',
    audited: true,
    summary: 'Log out of the dashboard',
    description: 'The session is over at once, in every process.',
    headers,
    answers: 'It is over.',
    answer: z.strictObject({ object: z.literal('logout') }).openapi('Logout'),
    async run({ options, caller, setHeader }) {
      if (caller.session) await endSession(options.context.db, caller.session)
      setHeader('Set-Cookie', clearSessionCookie(options.context.publicUrl))
      return { object: 'logout' as const }
    },
  }),
]

/** A new session has a token of its own; the one the browser had before, whoever made it, is over. */
async function enter({ options, sessionToken, setHeader }: LoginCall<unknown, unknown>, token: string) {
  const { db, publicUrl } = options.context
  const before = sessionToken === null ? null : hashToken(sessionToken)
  if (before !== null) await endSession(db, { tokenHash: before })
  const session = await findSession(db, token, options.adminPassword)
  if (!session) throw new RequestError('login_failed', 'The session ended as soon as it began. Log in again.')
  setHeader('Set-Cookie', writeSessionCookie(token, publicUrl))
  return describeSession(options, callerOf(session))
}

async function describeSession(
  { context: { db } }: AppOptions,
  { name, scopes, workspaceId, session }: Caller,
): Promise<z.input<typeof sessionSchema>> {
  const workspaces = await listWorkspaces(db)
  return {
    object: 'session',
    kind: session ? 'user' : 'key',
    name,
    role: session?.role ?? null,
    scopes: SCOPES.filter((scope) => scopes.includes(scope)),
    workspace: workspaces.find(({ id }) => id === workspaceId)?.name ?? '',
    expires_at: session?.expiresAt.toISOString() ?? null,
  }
}
