import { describe, expect, it } from 'vitest'
import { SCOPES, type Scope } from '../../src/domain/scopes.js'
import { createApiKey, revokeApiKey } from '../../src/operations/api-keys.js'
import { DEFAULT_WORKSPACE, readId } from '../../src/id.js'
import { createLinkSigner } from '../../src/link-signer.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { type Api, type Asked, CRON_SECRET, type Elsewhere, openApi } from './api-fixture.js'

const LETTER = { to: 'ada@example.com', subject: 'Hello', text: 'Hello.' }
const AT = '2040-01-01T00:00:00Z'

interface Route {
  readonly access: Scope | 'open' | 'cron' | 'login'
  readonly json?: unknown
  readonly csv?: string
  /** What of another workspace stands in the path or in the body. */
  readonly path?: (other: Elsewhere) => string
  readonly foreign?: (other: Elsewhere) => unknown
}

const email = (other: Elsewhere) => other.email
const sender = (other: Elsewhere) => other.sender
const contact = (other: Elsewhere) => other.contact
const list = (other: Elsewhere) => other.list
const template = (other: Elsewhere) => other.template
const campaign = (other: Elsewhere) => other.campaign
const enrollment = (other: Elsewhere) => other.enrollment
const sequence = (other: Elsewhere) => other.sequence
const captured = (other: Elsewhere) => other.captured

/** Every route there is, and who may use it. A route that is not here, or not there any more, fails the test. */
const ROUTES: Readonly<Record<string, Route>> = {
  'POST /api/emails': { access: 'send', json: LETTER },
  'POST /api/emails/batch': { access: 'send', json: [LETTER] },
  'GET /api/emails': { access: 'read' },
  'GET /api/emails/{id}': { access: 'read', path: email },
  'GET /api/emails/{id}/raw': { access: 'read', path: email },
  'GET /api/emails/{id}/attachments/{n}': { access: 'read', path: email },
  'PATCH /api/emails/{id}': { access: 'manage', json: { scheduled_at: AT }, path: email },
  'POST /api/emails/{id}/cancel': { access: 'manage', path: email },
  'POST /api/emails/{id}/retry': { access: 'manage', path: email },
  'POST /api/emails/{id}/resolve': { access: 'manage', json: { outcome: 'sent' }, path: email },
  'GET /api/admin/outbox': { access: 'read' },
  'POST /api/admin/outbox/retry': { access: 'manage' },
  'POST /api/admin/outbox/dismiss': { access: 'manage' },
  'POST /api/admin/outbox/cancel': { access: 'manage', json: { filter: {} } },
  'POST /api/admin/outbox/reschedule': { access: 'manage', json: { filter: {}, scheduled_at: AT } },
  'POST /api/admin/outbox/resolve': { access: 'manage', json: { filter: {}, outcome: 'sent' } },
  'POST /api/admin/outbox/{id}/retry': { access: 'manage', path: email },
  'DELETE /api/admin/outbox/{id}': { access: 'manage', path: email },
  'GET /api/admin/dashboard': { access: 'read' },
  'GET /api/admin/settings': { access: 'read' },
  'GET /api/admin/upcoming': { access: 'read' },
  'GET /api/admin/throughput': { access: 'read' },
  'GET /api/admin/email-counts': { access: 'read' },
  'GET /api/admin/session': { access: 'read' },
  'POST /api/admin/login': { access: 'login', json: { password: 'not the password' } },
  'POST /api/admin/setup': { access: 'login', json: { token: 'no token', password: 'not the password' } },
  'POST /api/admin/logout': { access: 'read' },
  'GET /api/admin/users': { access: 'admin' },
  'POST /api/admin/users': { access: 'admin', json: { name: 'ada', role: 'viewer' } },
  'POST /api/admin/users/{id}/link': { access: 'admin', path: (other) => other.user },
  'DELETE /api/admin/users/{id}': { access: 'admin', path: (other) => other.user },
  'GET /api/admin/audit': { access: 'admin' },
  'GET /api/senders': { access: 'read' },
  'POST /api/senders': { access: 'manage', json: { address: 'new@sender.test' } },
  'GET /api/senders/{id}': { access: 'read', path: sender },
  'PATCH /api/senders/{id}': { access: 'manage', json: { name: 'Stolen' }, path: sender },
  'DELETE /api/senders/{id}': { access: 'manage', path: sender },
  'POST /api/senders/{id}/pause': { access: 'manage', path: sender },
  'POST /api/senders/{id}/resume': { access: 'manage', path: sender },
  'POST /api/senders/{id}/test': { access: 'manage', path: sender },
  'GET /api/senders/{id}/quota': { access: 'read', path: sender },
  'GET /api/settings/sending': { access: 'read' },
  'PUT /api/settings/sending': { access: 'manage', json: { daily_quota: 100 } },
  'POST /api/settings/sending/preview': { access: 'read', json: { pace: {} } },
  'GET /api/suppressions': { access: 'read' },
  'POST /api/suppressions': { access: 'manage', json: { email: 'ada@example.com' } },
  'POST /api/suppressions/batch/add': { access: 'manage', json: { emails: ['ada@example.com'] } },
  'POST /api/suppressions/batch/remove': { access: 'manage', json: { emails: ['gone@elsewhere.test'] } },
  'DELETE /api/suppressions/{email}': { access: 'manage', path: (other) => other.suppressed },
  'GET /api/contacts': { access: 'read' },
  'POST /api/contacts': { access: 'manage', json: { email: 'ada@example.com' } },
  'GET /api/contacts/{id}': { access: 'read', path: contact },
  'PATCH /api/contacts/{id}': { access: 'manage', json: { name: 'Stolen' }, path: contact },
  'DELETE /api/contacts/{id}': { access: 'manage', path: contact },
  'GET /api/lists': { access: 'read' },
  'POST /api/lists': { access: 'manage', json: { name: 'New' } },
  'GET /api/lists/{id}': { access: 'read', path: list },
  'PATCH /api/lists/{id}': { access: 'manage', json: { name: 'Stolen' }, path: list },
  'DELETE /api/lists/{id}': { access: 'manage', path: list },
  'GET /api/lists/{id}/contacts': { access: 'read', path: list },
  'POST /api/lists/{id}/contacts': {
    access: 'manage',
    json: { contacts: [{ email: 'ada@example.com' }] },
    path: list,
  },
  'PATCH /api/lists/{id}/contacts/{contact_id}': { access: 'manage', json: { subscribed: false }, path: list },
  'DELETE /api/lists/{id}/contacts/{contact_id}': { access: 'manage', path: list },
  'POST /api/lists/{id}/import': { access: 'manage', csv: 'email\nada@example.com\n', path: list },
  'GET /api/lists/{id}/export': { access: 'read', path: list },
  'GET /api/imports': { access: 'read' },
  'GET /api/imports/{id}': { access: 'read', path: (other) => other.import },
  'GET /api/templates': { access: 'read' },
  'POST /api/templates': { access: 'manage', json: { name: 'New', subject: 'S', text: 'T' } },
  'POST /api/templates/preview': { access: 'read', json: { subject: 'S', text: 'T' } },
  'GET /api/templates/{id}': { access: 'read', path: template },
  'PATCH /api/templates/{id}': { access: 'manage', json: { name: 'Stolen' }, path: template },
  'DELETE /api/templates/{id}': { access: 'manage', path: template },
  'GET /api/templates/{id}/versions': { access: 'read', path: template },
  'GET /api/templates/{id}/versions/{version}': { access: 'read', path: template },
  'POST /api/templates/{id}/preview': { access: 'read', path: template },
  'GET /api/sequences': { access: 'read' },
  'POST /api/sequences': { access: 'manage', json: { name: 'New', steps: [{ template: `tpl_${'0'.repeat(32)}` }] } },
  'POST /api/sequences/validate': { access: 'read', json: { name: 'New', steps: [] } },
  'GET /api/sequences/{id}': { access: 'read', path: sequence },
  'PATCH /api/sequences/{id}': { access: 'manage', json: { name: 'Stolen' }, path: sequence },
  'DELETE /api/sequences/{id}': { access: 'manage', path: sequence },
  'GET /api/sequences/{id}/versions/{version}': { access: 'read', path: sequence },
  'GET /api/campaigns': { access: 'read' },
  'POST /api/campaigns': {
    access: 'manage',
    json: { name: 'New', list_id: `lst_${'0'.repeat(32)}`, template_id: `tpl_${'0'.repeat(32)}` },
  },
  'GET /api/campaigns/{id}': { access: 'read', path: campaign },
  'PATCH /api/campaigns/{id}': { access: 'manage', json: { name: 'Stolen' }, path: campaign },
  'DELETE /api/campaigns/{id}': { access: 'manage', path: campaign },
  'GET /api/campaigns/{id}/preflight': { access: 'read', path: campaign },
  'POST /api/campaigns/{id}/launch': { access: 'manage', path: campaign },
  'POST /api/campaigns/{id}/schedule': { access: 'manage', json: { scheduled_at: AT }, path: campaign },
  'GET /api/campaigns/{id}/schedule': { access: 'read', path: campaign },
  'GET /api/campaigns/{id}/failures': { access: 'read', path: campaign },
  'GET /api/campaigns/{id}/funnel': { access: 'read', path: campaign },
  'GET /api/campaigns/{id}/scheduled-emails': { access: 'read', path: campaign },
  'POST /api/campaigns/{id}/pause': { access: 'manage', path: campaign },
  'POST /api/campaigns/{id}/resume': { access: 'manage', path: campaign },
  'POST /api/campaigns/{id}/cancel': { access: 'manage', path: campaign },
  'POST /api/campaigns/{id}/retry': { access: 'manage', path: campaign },
  'POST /api/campaigns/{id}/test': { access: 'manage', json: { to: 'ada@example.com' }, path: campaign },
  'GET /api/campaigns/{id}/simulate': { access: 'read', path: campaign },
  'POST /api/campaigns/{id}/enroll': {
    access: 'manage',
    json: { contact_ids: [`ctc_${'0'.repeat(32)}`] },
    path: campaign,
  },
  'GET /api/enrollments': { access: 'read' },
  'GET /api/enrollments/{id}': { access: 'read', path: enrollment },
  'POST /api/enrollments/{id}/stop': { access: 'manage', path: enrollment },
  'POST /api/enrollments/{id}/pause': { access: 'manage', path: enrollment },
  'POST /api/enrollments/{id}/resume': { access: 'manage', path: enrollment },
  'GET /api/inbox': { access: 'read' },
  'DELETE /api/inbox': { access: 'manage' },
  'GET /api/events/stream': { access: 'read' },
  'GET /api/inbox/{id}': { access: 'read', path: captured },
  'GET /api/inbox/{id}/raw': { access: 'read', path: captured },
  'GET /api/inbox/{id}/attachments/{n}': { access: 'read', path: captured },
  'POST /api/events/send': {
    access: 'send',
    json: { event: 'delivered', email_id: 'em_00000000000000000000000000000000' },
    foreign: (other) => ({ event: 'delivered', email_id: other.email }),
  },
  'GET /api/api-keys': { access: 'admin' },
  'POST /api/api-keys': { access: 'admin', json: { name: 'new', scopes: ['send'] } },
  'DELETE /api/api-keys/{id}': { access: 'admin', path: (other) => other.apiKey },
  'GET /api/workspaces/current': { access: 'read' },
  'POST /api/cron/send-emails': { access: 'cron' },
  'GET /u/{token}': { access: 'open' },
  'POST /u/{token}': { access: 'open' },
  'GET /api/openapi.json': { access: 'open' },
  'GET /api/docs': { access: 'open' },
  'GET /livez': { access: 'open' },
  'GET /readyz': { access: 'open' },
  'GET /metrics': { access: 'open' },
}

const KEYED = Object.entries(ROUTES).filter(([, { access }]) => SCOPES.includes(access as Scope))
const NOTHING = '00000000000000000000000000000000'

/** The route with the ids in it filled in. */
const fill = (route: string, id: string, contactId = NOTHING) =>
  route
    .replace(/\{(?:id|email)\}/, id)
    .replace('{n}', '0')
    .replace('{version}', '1')
    .replace('{contact_id}', contactId)

/** What the route is sent. */
const sent = ({ json, csv }: Route): Asked =>
  csv === undefined ? { json } : { body: csv, headers: { 'content-type': 'text/csv' } }

const asSession = (route: Route, session: Readonly<Record<string, string>>): Asked => {
  const asked = sent(route)
  return { ...asked, key: null, headers: { ...asked.headers, ...session } }
}

async function listed(api: Api): Promise<Record<string, string>> {
  const { body } = await api.call('GET /api/openapi.json', { key: null })
  const found: Record<string, string> = {}
  for (const [path, operations] of Object.entries(body.paths as Record<string, Record<string, { security: object[] }>>))
    for (const [method, { security }] of Object.entries(operations)) {
      const [scheme, scopes] = Object.entries(security[0] ?? { open: [] })[0] as [string, string[]]
      found[`${method.toUpperCase()} ${path}`] = { apiKey: scopes[0]!, cronSecret: 'cron' }[scheme] ?? scheme
    }
  return found
}

describe.each(DATABASE_KINDS)('every route knows its caller, on %s', (kind) => {
  const api = openApi(kind)

  it('is listed with what it takes to use it', async () => {
    expect(await listed(api)).toEqual(
      // For a login no key is needed, and none would help.
      Object.fromEntries(
        Object.entries(ROUTES).map(([route, { access }]) => [route, access === 'login' ? 'open' : access]),
      ),
    )
  })

  it('answers nobody without a key', async () => {
    for (const [route, each] of KEYED) {
      const { status, headers } = await api.call(fill(route, NOTHING), { ...sent(each), key: null })
      expect([route, status, headers.get('www-authenticate')]).toEqual([route, 401, 'Bearer realm="postrider"'])
    }
  })

  it('answers nobody with a key that was revoked, or never was one', async () => {
    const { db } = api.mail.context
    const { key, apiKey } = await createApiKey(db, DEFAULT_WORKSPACE, { name: 'old', scopes: SCOPES })
    await revokeApiKey(db, DEFAULT_WORKSPACE, apiKey.id)
    for (const [route, each] of KEYED)
      for (const wrong of [key, `pr_${'x'.repeat(43)}`, CRON_SECRET])
        expect([route, (await api.call(fill(route, NOTHING), { ...sent(each), key: wrong })).status]).toEqual([
          route,
          401,
        ])
  })

  it('answers nobody whose key lacks the scope, and everybody whose key has it', async () => {
    for (const [route, each] of KEYED) {
      const { access } = each
      const lacking = await api.makeKey(SCOPES.filter((scope) => scope !== access))
      const refused = await api.call(fill(route, NOTHING), { ...sent(each), key: lacking })
      expect([route, refused.status, refused.body.code]).toEqual([route, 403, 'forbidden'])
      const having = await api.makeKey([access as Scope])
      expect([401, 403]).not.toContain((await api.call(fill(route, NOTHING), { ...sent(each), key: having })).status)
    }
  })

  it('answers nobody whose session was never one, is over, or was ended', async () => {
    const ended = await api.logIn('operator')
    await api.call('POST /api/admin/logout', { key: null, headers: ended })
    const late = await api.logIn('operator')
    await api.shiftClock(12 * 3_600_000 + 1_000)
    for (const [route, each] of KEYED)
      for (const wrong of [ended, late, { ...ended, cookie: `postrider_session=${'x'.repeat(43)}` }])
        expect([route, (await api.call(fill(route, NOTHING), asSession(each, wrong))).status]).toEqual([route, 401])
  })

  it('lets a viewer look and an operator act', async () => {
    const [viewer, operator] = [await api.logIn('viewer'), await api.logIn('operator')]
    for (const [route, each] of KEYED) {
      const seen = await api.call(fill(route, NOTHING), asSession(each, viewer))
      if (each.access === 'read') expect([401, 403]).not.toContain(seen.status)
      else expect([route, seen.status, seen.body.code]).toEqual([route, 403, 'forbidden'])
      const done = await api.call(fill(route, NOTHING), asSession(each, operator))
      expect([401, 403], route).not.toContain(done.status)
      if (route === 'POST /api/admin/logout')
        for (const headers of [viewer, operator])
          Object.assign(headers, await api.logIn(headers === viewer ? 'viewer' : 'operator'))
    }
  })

  it('lets a session act from the dashboard only', async () => {
    const { cookie } = await api.logIn('operator')
    for (const [route, each] of KEYED) {
      const { status, body } = await api.call(fill(route, NOTHING), asSession(each, { cookie }))
      if (route.startsWith('GET ')) expect([401, 403], route).not.toContain(status)
      else expect([route, status, body.code]).toEqual([route, 403, 'cross_site_request'])
    }
  })

  it('lets nobody in who does not know the password, or asks from elsewhere', async () => {
    for (const [route, each] of Object.entries(ROUTES))
      if (each.access === 'login') {
        expect([route, (await api.call(route, { ...sent(each), key: null })).body.code]).toEqual([
          route,
          'cross_site_request',
        ])
        const refused = await api.call(route, asSession(each, { 'x-postrider-dashboard': '1' }))
        expect([route, refused.status >= 400, refused.headers.get('set-cookie')]).toEqual([route, true, null])
      }
  })

  it('knows nothing of another workspace, and changes nothing there', async () => {
    const other = await api.elsewhere()
    const before = await snapshot(api, other)
    for (const [route, each] of KEYED) {
      const { path, foreign } = each
      const asked = foreign ? { json: foreign(other) } : sent(each)
      const answer = await api.call(fill(route, path?.(other) ?? NOTHING, other.contact), asked)
      if (path || foreign) expect([route, answer.status]).toEqual([route, 404])
      else
        expect([route, JSON.stringify(answer.body)]).toEqual([
          route,
          expect.not.stringMatching(/elsewhere\.test|"elsewhere"/),
        ])
    }
    expect(await snapshot(api, other)).toEqual(before)
  })

  it('lets the cron in with its own secret only', async () => {
    const route = 'POST /api/cron/send-emails'
    for (const key of [null, 'wrong', await api.makeKey()]) expect((await api.call(route, { key })).status).toBe(401)
    expect((await api.call(route, { key: CRON_SECRET })).status).toBe(200)
  })

  it('shows the open ones to everybody', async () => {
    const token = linkOf(await api.elsewhere())
    for (const [route, { access }] of Object.entries(ROUTES))
      if (access === 'open')
        expect([route, (await api.call(route.replace('{token}', token), { key: null })).status]).toEqual([route, 200])
  })
})

/** The link in a mail, which is all that is needed to leave a list. */
const linkOf = ({ list, contact }: Elsewhere) =>
  createLinkSigner(() => 'a secret of the tests').sign({
    listId: readId('lst', list)!,
    contactId: readId('ctc', contact)!,
    campaignId: null,
    address: 'you@elsewhere.test',
  })

/** Everything the other workspace can see of itself, but for when its keys were used. */
async function snapshot(api: Api, { key, email, sender, captured, contact, list }: Elsewhere): Promise<unknown[]> {
  const seen: unknown[] = []
  for (const path of [
    'emails',
    `emails/${email}`,
    'admin/outbox',
    'senders',
    `senders/${sender}`,
    'suppressions',
    'inbox',
    `inbox/${captured}`,
    'contacts',
    `contacts/${contact}`,
    'lists',
    `lists/${list}/contacts`,
    'imports',
    'templates',
    'sequences',
    'campaigns',
    'enrollments',
    'api-keys',
    'admin/users',
  ])
    seen.push((await api.call(`GET /api/${path}`, { key })).body)
  return JSON.parse(
    JSON.stringify(seen, (name, value: unknown) => (name === 'last_used_at' ? undefined : value)),
  ) as unknown[]
}
