import { describe, expect, it } from 'vitest'
import { createApp } from '../../src/http/create-app.js'
import { detailOf } from '../../src/http/audit-detail.js'
import { ENDPOINTS } from '../../src/http/endpoints.js'
import { prune } from '../../src/engine/pruner.js'
import { newId, showId } from '../../src/id.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { until } from '../support/until.js'
import type { Answer } from './api-fixture.js'
import { ADMIN_PASSWORD, askAs, cookieOf, openDashboard, PASSWORD } from './dashboard-fixture.js'

interface Entry {
  id: string
  actor: string
  actor_kind: string
  action: string
  summary: string
  target: string | null
  outcome: string
  status: number | null
  problem: string | null
  detail: Record<string, unknown>
  request_id: string
}

describe.each(DATABASE_KINDS)('what people did is written down, on %s', (kind) => {
  const { api, ask, link } = openDashboard(kind, { adminPassword: ADMIN_PASSWORD })
  const read = async (query = ''): Promise<Entry[]> =>
    (await api.call(`GET /api/admin/audit${query}`)).body.data as Entry[]

  it('by a session: who, what, to what, and how it ended', async () => {
    const { cookie } = await api.logIn('operator', 'grace')
    const sender = await ask('POST /api/senders', { cookie, json: { address: 'new@sender.test', name: 'New' } })
    await ask(`POST /api/senders/${sender.body.id}/pause`, { cookie, json: { reason: 'a holiday' } })
    const missing = `em_${'0'.repeat(32)}`
    await ask(`POST /api/emails/${missing}/cancel`, { cookie })
    await ask('POST /api/lists', { cookie, json: { name: 7 } })
    await ask('GET /api/emails', { cookie })
    const entries = await read()
    expect(entries.map(({ actor, actor_kind }) => `${actor} ${actor_kind}`)).toEqual(Array(4).fill('grace user'))
    expect(entries).toMatchObject([
      {
        action: 'POST /api/lists',
        outcome: 'refused',
        status: 422,
        problem: 'request_invalid',
        target: null,
        detail: {},
      },
      {
        action: 'POST /api/emails/{id}/cancel',
        outcome: 'refused',
        status: 404,
        problem: 'email_not_found',
        target: missing,
      },
      { action: 'POST /api/senders/{id}/pause', outcome: 'done', status: 200, target: sender.body.id },
      {
        action: 'POST /api/senders',
        summary: 'Make a sender',
        outcome: 'done',
        status: sender.status,
        problem: null,
        // What was made, by whose id it is found from now on.
        target: sender.body.id,
        detail: { address: 'new@sender.test', name: 'New' },
        request_id: sender.headers.get('x-request-id'),
      },
    ])
  })

  it('and no question: how many it would be is asked before it is decided', async () => {
    const { cookie } = await api.logIn('operator', 'grace')
    const { body } = await ask('POST /api/admin/outbox/retry', { cookie, json: { filter: {}, dry_run: true } })
    expect(body).toMatchObject({ dry_run: true, matched: 0 })
    expect(await read()).toEqual([])
    await ask('POST /api/admin/outbox/retry', { cookie, json: { filter: {} } })
    expect(await read()).toMatchObject([{ action: 'POST /api/admin/outbox/retry', outcome: 'done' }])
  })

  it('also when a viewer tried, and never by who was not in', async () => {
    const { cookie } = await api.logIn('viewer', 'ada')
    await ask('DELETE /api/inbox', { cookie })
    await ask('DELETE /api/inbox', { cookie, headers: { 'sec-fetch-site': 'cross-site' } })
    await ask('DELETE /api/inbox', { cookie: `postrider_session=${'x'.repeat(43)}` })
    // A preview changes nothing; the screen asks for one with every letter that is typed.
    await ask('POST /api/templates/preview', { cookie, json: { subject: 'Hello', text: 'Hello' } })
    expect(await read()).toMatchObject([
      { actor: 'ada', action: 'DELETE /api/inbox', outcome: 'refused', status: 403, problem: 'forbidden' },
    ])
  })

  it('every login, failed login, set-up and logout, and no name that is nobody’s', async () => {
    await ask('POST /api/admin/login', {
      json: { password: 'a wrong guess' },
      address: '10.0.0.1',
      headers: { 'user-agent': 'x' },
    })
    await ask('POST /api/admin/login', { json: { name: 'my-secret-password', password: 'ada' } })
    const cookie = cookieOf(await ask('POST /api/admin/login', { json: { password: ADMIN_PASSWORD } }))!
    await ask('POST /api/admin/logout', { cookie })
    const { token } = await link('ada', 'viewer')
    await ask('POST /api/admin/setup', { json: { token, password: 'short' } })
    await ask('POST /api/admin/setup', { json: { token, password: PASSWORD } })
    await ask('POST /api/admin/setup', { json: { token, password: PASSWORD } })
    const entries = await read()
    expect(
      entries.map(({ action, actor, actor_kind, outcome, problem }) => [action, actor, actor_kind, outcome, problem]),
    ).toEqual([
      ['POST /api/admin/setup', 'unknown', 'visitor', 'refused', 'link_invalid'],
      ['POST /api/admin/setup', 'ada', 'visitor', 'done', null],
      ['POST /api/admin/setup', 'ada', 'visitor', 'refused', 'password_invalid'],
      ['POST /api/admin/logout', 'admin', 'user', 'done', null],
      ['POST /api/admin/login', 'admin', 'visitor', 'done', null],
      ['POST /api/admin/login', 'unknown', 'visitor', 'refused', 'login_failed'],
      ['POST /api/admin/login', 'admin', 'visitor', 'refused', 'login_failed'],
    ])
    expect(entries.at(-1)!.detail).toEqual({ remote_address: '10.0.0.1', user_agent: 'x' })
    const stored = JSON.stringify((await api.database.db.query(`select * from postrider.audit_log`)).rows)
    for (const secret of [PASSWORD, ADMIN_PASSWORD, token, cookie.split('=')[1]!, 'my-secret', 'a wrong guess'])
      expect(stored).not.toContain(secret)
  })

  it('by a key, what it does to the system, and not the mail it sends', async () => {
    const key = await api.makeKey()
    await api.call('POST /api/emails', { key, json: { to: 'ada@example.com', subject: 'S', text: 'T' } })
    await api.call('POST /api/contacts', { key, json: { email: 'ada@example.com' } })
    await api.call('DELETE /api/suppressions/ada@example.com', { key })
    await api.call('POST /api/senders', { key, json: { wrong: true } })
    await api.call('POST /api/suppressions/batch/add', { key, json: { emails: ['a@example.com', 'b@example.com'] } })
    expect(await read()).toMatchObject([
      {
        actor: 'a test',
        actor_kind: 'key',
        action: 'POST /api/suppressions/batch/add',
        detail: { key_id: expect.stringMatching(/^key_/) as string, emails_count: 2 },
      },
      { action: 'DELETE /api/suppressions/{email}', target: 'ada@example.com', outcome: 'refused' },
    ])
  })

  it('before it is done: while it is under way, and when the process died, its end is not known', async () => {
    const { cookie } = await api.logIn('operator', 'grace')
    const { body } = await api.call('GET /api/senders')
    api.answer('greeting', { do: 'hang' })
    const under = ask(`POST /api/senders/${body.data[0].id}/test`, { cookie })
    const [entry] = await until('it is written down', async () => {
      const entries = await read()
      return entries.length > 0 && entries
    })
    expect(entry).toMatchObject({ actor: 'grace', outcome: 'not_known', status: null, problem: null })
    await api.server.close()
    expect((await under).status).toBe(200)
    expect(await read()).toMatchObject([{ outcome: 'done', status: 200 }])
  })

  it('or it is not done; and what was done stays done when its end cannot be written', async () => {
    const { cookie } = await api.logIn('operator', 'grace')
    const failing = (pattern: RegExp) => {
      const { db } = api.mail.context
      const query: typeof db.query = (text, values, options) =>
        pattern.test(text)
          ? Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }))
          : db.query(text, values, options)
      return createApp({ ...appOptions(), context: { ...api.mail.context, db: { ...db, query } } })
    }
    const make = async (name: string, pattern: RegExp): Promise<Answer> => {
      const app = failing(pattern)
      const answer = await askAs((request, env) => app.fetch(request, env), 'POST /api/lists', {
        cookie,
        json: { name },
      })
      await app.close()
      return answer
    }
    expect((await make('never', /insert into postrider\.audit_log/)).status).toBe(503)
    expect((await make('made', /update postrider\.audit_log/)).status).toBe(201)
    const { body } = await api.call('GET /api/lists')
    expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['made'])
    expect(await read()).toMatchObject([{ action: 'POST /api/lists', outcome: 'not_known', detail: { name: 'made' } }])
  })

  it('in pages, filtered, each workspace for itself, and for a year', async () => {
    const { cookie } = await api.logIn('operator', 'grace')
    const other = await api.elsewhere()
    await api.call('POST /api/senders', { key: other.key, json: { address: 'two@elsewhere.test' } })
    const ids = [newId(), newId(), newId()].map((id) => showId('cmp', id))
    for (const id of ids) await ask(`POST /api/campaigns/${id}/pause`, { cookie })
    await ask('DELETE /api/suppressions/a%00b', { cookie })
    const first = await api.call('GET /api/admin/audit?limit=2')
    expect(first.body.has_more).toBe(true)
    const [, last] = first.body.data as Entry[]
    const second = await api.call(`GET /api/admin/audit?limit=2&after=${last!.id}`)
    expect(second.body).toMatchObject({ has_more: false, data: [{ target: ids[1] }, { target: ids[0] }] })
    const back = await api.call(`GET /api/admin/audit?limit=2&before=${second.body.data[0].id}`)
    expect(back.body.data).toEqual(first.body.data)
    expect(await read(`?target=${ids[1]}`)).toMatchObject([{ target: ids[1] }])
    expect(await read('?action=Pause')).toHaveLength(3)
    expect(await read('?action=suppressions')).toMatchObject([{ target: 'ab' }])
    expect(await read('?actor=grace')).toHaveLength(4)
    expect(await read('?actor=nobody')).toEqual([])
    await api.shiftClock(364 * 86_400_000)
    await prune(api.database.db, 1_000)
    expect(await read()).toHaveLength(4)
    await api.shiftClock(2 * 86_400_000)
    await prune(api.database.db, 1_000)
    expect(await read()).toEqual([])
  })

  const appOptions = (): Parameters<typeof createApp>[0] => ({
    context: api.mail.context,
    metrics: {} as Parameters<typeof createApp>[0]['metrics'],
    apiKey: null,
    publicUrl: 'http://127.0.0.1:3400',
    adminPassword: ADMIN_PASSWORD,
    cronSecret: null,
    rateLimit: 1_000,
    inlineDeadlineMs: 1_000,
    retryPolicies: {} as Parameters<typeof createApp>[0]['retryPolicies'],
    tick: () => Promise.resolve({}),
    isReady: () => true,
  })
})

describe('of a request’s body', () => {
  it('only small facts are kept: no secret, no text of an email, no address of many', () => {
    const secrets = {
      password: 'canary',
      token: 'canary',
      key: 'canary',
      secret: 'canary',
      html: 'canary',
      text: 'canary',
      subject: 'canary',
      headers: { name: 'canary' },
      attachments: [{ content: 'canary' }],
      credentials: { name: 'canary', password: 'canary' },
      attributes: { name: 'canary' },
      payload: { name: 'canary' },
      data: { name: 'canary' },
      contacts: [{ email: 'canary' }],
      emails: ['canary'],
    }
    expect(
      detailOf({ ...secrets, name: 'n'.repeat(300), batch_size: 5, scheduled_at: null, scopes: ['send', 'read'] }),
    ).toEqual({
      name: 'n'.repeat(200),
      batch_size: 5,
      scheduled_at: null,
      scopes: 'send, read',
      contacts_count: 1,
      emails_count: 1,
    })
    expect(detailOf([secrets, secrets])).toEqual({ count: 2 })
    for (const nothing of [undefined, null, 'canary', 7]) expect(detailOf(nothing)).toEqual({})
  })

  it('no endpoint takes a password or a secret under a name that is kept', () => {
    const names = ENDPOINTS.flatMap(({ body }) =>
      body && 'shape' in body ? Object.keys(body.shape as Record<string, unknown>) : [],
    )
    expect(names).toContain('password')
    const kept = Object.keys(detailOf(Object.fromEntries(names.map((name) => [name, 'x']))))
    expect(kept.filter((name) => /pass|secret|token|key|cred|html|text|subject|dkim|smtp/.test(name))).toEqual([])
  })
})
