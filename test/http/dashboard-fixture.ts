import type { PostriderOptions } from '../../src/index.js'
import { type MadeLink, makeLink } from '../../src/operations/dashboard-links.js'
import type { DashboardRole } from '../../src/domain/dashboard-role.js'
import { DEFAULT_WORKSPACE } from '../../src/id.js'
import type { DatabaseKind } from '../support/test-database.js'
import { type Answer, type Api, callApi, openApi } from './api-fixture.js'

export const ADMIN_PASSWORD = 'the password of the settings'
export const PASSWORD = 'correct horse battery staple'

export interface Sent {
  readonly json?: unknown
  readonly cookie?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Where it comes from, as a server would know. */
  readonly address?: string
}

export interface Dashboard {
  readonly api: Api
  /** As a page of the dashboard would. */
  ask(route: string, sent?: Sent): Promise<Answer>
  link(name?: string, role?: DashboardRole): Promise<MadeLink>
  /** A user with a password, logged in: the cookie. */
  enter(name?: string, role?: DashboardRole): Promise<string>
}

export function openDashboard(kind: DatabaseKind, options: PostriderOptions = {}): Dashboard {
  const api = openApi(kind, options)
  const dashboard: Dashboard = {
    api,
    ask: (route, sent) => askAs((request, env) => api.mail.fetch(request, env), route, sent),
    link: (name = 'admin', role) => makeLink(api.mail.context.db, DEFAULT_WORKSPACE, { name, role: role ?? null }),
    async enter(name = 'admin', role) {
      const { token } = await dashboard.link(name, role)
      return cookieOf(await dashboard.ask('POST /api/admin/setup', { json: { token, password: PASSWORD } }))!
    },
  }
  return dashboard
}

export const askAs = (
  fetch: (request: Request, env: unknown) => Response | Promise<Response>,
  route: string,
  { json, cookie, headers = {}, address }: Sent = {},
): Promise<Answer> =>
  callApi((request) => fetch(request, { incoming: { socket: { remoteAddress: address } } }), route, {
    key: null,
    json,
    headers: { 'x-postrider-dashboard': '1', ...(cookie !== undefined && { cookie }), ...headers },
  })

/** What the browser would send from now on; undefined if nothing was set. */
export const cookieOf = ({ headers }: Answer): string | undefined => headers.get('set-cookie')?.split(';')[0]
