import { describe, expect, it } from 'vitest'
import { DATABASE_KINDS } from '../support/test-database.js'
import { type Api, openApi } from './api-fixture.js'

const LATER = '2999-01-01T09:00:00Z'
const HOUR_MS = 3_600_000

interface Shown {
  readonly id: string
}

/** What a test needs of a workspace, by HTTP as anybody would. */
function openWorld(api: Api) {
  let made = 0
  const post = async (path: string, json: object = {}) => {
    const { status, body } = await api.call(`POST /api/${path}`, { json })
    expect([path, status < 400 ? 'ok' : body]).toEqual([path, 'ok'])
    return body
  }
  const world = {
    post,
    get: async (path: string) => (await api.call(`GET /api/${path}`)).body,
    list: async (...people: string[]): Promise<string> => {
      const { id } = await post('lists', { name: `List ${++made}` })
      const contacts = people.map((name) => ({ email: `${name}@example.com`, name }))
      if (contacts.length > 0) await post(`lists/${id}/contacts`, { contacts })
      return id as string
    },
    template: async (content: object = {}): Promise<string> =>
      (
        await post('templates', {
          name: `Template ${++made}`,
          subject: 'Hi {{ contact.name }}',
          text: 'Hello',
          ...content,
        })
      ).id as string,
    draft: async (people: string[] | string = ['ada', 'bob', 'cyd'], more: object = {}) => {
      const list_id = typeof people === 'string' ? people : await world.list(...people)
      const template_id = 'template_id' in more ? undefined : await world.template()
      return (await post('campaigns', { name: 'News', list_id, template_id, ...more })) as { id: string } & Record<
        string,
        unknown
      >
    },
    progress: (id: string) => world.get(`campaigns/${id}/schedule`),
    emails: async (id: string, query = '') => (await world.get(`emails?campaign_id=${id}${query}`)).data as Shown[],
    received: () => api.server.taken.map(({ rcpt }) => /<(.*)>/.exec(rcpt)![1]!).toSorted(),
    async sender(json: object = {}): Promise<string> {
      return (await post('senders', { address: `s${++made}@sender.test`, ...json })).id as string
    },
    /** Asks and expects it to be refused. */
    refused: async (route: string, json?: object) => {
      const { status, body } = await api.call(route, { ...(json && { json }) })
      expect([route, status >= 400]).toEqual([route, true])
      return body
    },
  }
  return world
}

describe.each(DATABASE_KINDS)('campaigns by HTTP, on %s', (kind) => {
  const api = openApi(kind)
  const world = openWorld(api)
  const { post, get, draft, progress, refused, received } = world

  it('are made, listed, changed and removed as drafts', async () => {
    const list = await world.list('ada')
    const template = await world.template()
    const made = await api.call('POST /api/campaigns', {
      json: { name: 'First', list_id: list, template_id: template, hourly_limit: 100, reply_to: 'desk@example.com' },
    })
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        status: 'draft',
        batch_size: 500,
        hourly_limit: 100,
        follow_pace: false,
        template_version: null,
        started_at: null,
      },
    ])
    const { id } = made.body
    const other = await draft(['bob'])
    const changed = await api.call(`PATCH /api/campaigns/${id}`, {
      json: { name: 'Second', hourly_limit: null, scheduled_at: LATER },
    })
    expect(changed.body).toMatchObject({ name: 'Second', hourly_limit: null, reply_to: 'desk@example.com' })
    expect(changed.body.scheduled_at).toBe(new Date(LATER).toISOString())
    expect(await get(`campaigns/${id}`)).toEqual(changed.body)

    expect((await get('campaigns')).data.map((each: { id: string }) => each.id)).toEqual([other.id, id])
    expect(await get('campaigns?limit=1')).toMatchObject({ has_more: true, data: [{ id: other.id }] })
    expect((await get(`campaigns?after=${other.id}`)).data).toMatchObject([{ id }])
    expect((await get(`campaigns?before=${id}`)).data).toMatchObject([{ id: other.id }])
    expect((await get(`campaigns?list_id=${list}`)).data).toMatchObject([{ id }])
    expect((await get('campaigns?status=sent')).data).toEqual([])

    expect((await api.call(`DELETE /api/campaigns/${id}`)).body).toEqual({ object: 'campaign', id, deleted: true })
    for (const route of ['GET ', 'PATCH ', 'DELETE '])
      expect(await refused(`${route}/api/campaigns/${id}`, route === 'PATCH ' ? {} : undefined)).toMatchObject({
        status: 404,
        code: 'campaign_not_found',
      })
  })

  it('are refused with everything that is wrong with them', async () => {
    const [list_id, template_id] = [await world.list('ada'), await world.template()]
    const pointers = async (json: object, code = 'campaign_invalid') => {
      const body = await refused('POST /api/campaigns', json)
      expect(body).toMatchObject({ status: 422, code })
      return (body.errors as { pointer: string }[]).map(({ pointer }) => pointer).toSorted()
    }
    expect(await pointers({}, 'request_invalid')).toEqual(['/list_id', '/name', '/template_id'])
    const nothing = '0'.repeat(32)
    const wrong = { name: ' ', list_id: `lst_${nothing}`, template_id: `tpl_${nothing}`, sender_id: `snd_${nothing}` }
    expect(await pointers({ ...wrong, reply_to: 'nobody', batch_size: 0, hourly_limit: 0 })).toEqual([
      '/batch_size',
      '/hourly_limit',
      '/list_id',
      '/name',
      '/reply_to',
      '/sender_id',
      '/template_id',
    ])
    expect(
      await pointers({ name: 'x', list_id, template_id, scheduled_at: LATER, expires_at: '2998-01-01T00:00:00Z' }),
    ).toEqual(['/expires_at'])
    const malformed = { name: 'x', list_id: 'nonsense', template_id, scheduled_at: 'soon', expires_at: 'later' }
    expect(await pointers(malformed, 'request_invalid')).toEqual(['/expires_at', '/list_id', '/scheduled_at'])
    expect(await refused('POST /api/campaigns', { name: 'x', list_id, template_id, hourlylimit: 3 })).toMatchObject({
      errors: [{ detail: expect.stringContaining('did you mean hourly_limit') }],
    })
    const { id } = await draft(['ada'])
    expect(await refused(`PATCH /api/campaigns/${id}`, { batch_size: 10_001 })).toMatchObject({
      errors: [{ pointer: '/batch_size' }],
    })
    expect(await refused(`POST /api/campaigns/${id}/schedule`, { scheduled_at: 'soon' })).toMatchObject({
      status: 422,
      errors: [{ pointer: '/scheduled_at' }],
    })
  })

  it('do not start while anything would keep them from going well, and say all of it', async () => {
    const preflight = async (id: string) => {
      const { ok, checks } = await get(`campaigns/${id}/preflight`)
      const errors = (checks as { check: string; level: string }[])
        .filter(({ level }) => level === 'error')
        .map(({ check }) => check)
      expect(ok).toBe(errors.length === 0)
      const launched = await api.call(`POST /api/campaigns/${id}/launch`)
      if (!ok) {
        expect(launched.body).toMatchObject({ status: 422, code: 'campaign_not_ready' })
        expect(launched.body.errors.map((each: { pointer: string }) => each.pointer.slice(1))).toEqual(errors)
        expect((await get(`campaigns/${id}`)).status).toBe('draft')
      } else expect(launched.status).toBe(200)
      return errors
    }
    expect(await preflight((await draft([])).id)).toEqual(['audience'])

    const out = await world.list('ada', 'gone')
    const [ada] = (await get(`lists/${out}/contacts`)).data.filter((each: { name: string }) => each.name === 'ada')
    await api.call(`PATCH /api/lists/${out}/contacts/${ada.id}`, { json: { subscribed: false } })
    await post('suppressions', { email: 'gone@example.com' })
    expect(await preflight((await draft(out)).id)).toEqual(['audience'])

    const template_id = await world.template({ text: 'You live in {{ contact.city }}.' })
    const missing = await draft(['bob'], { template_id })
    expect(await preflight(missing.id)).toEqual(['template'])
    expect(JSON.stringify(await get(`campaigns/${missing.id}/preflight`))).toContain('contact.city')

    const sender_id = await world.sender()
    const paused = await draft(['bob'], { sender_id })
    await post(`senders/${sender_id}/pause`, { reason: 'moving house' })
    expect(await preflight(paused.id)).toEqual(['sender'])

    expect(await preflight((await draft(['bob'], { follow_pace: true })).id)).toEqual(['window'])
    expect(await preflight((await draft(['bob'], { expires_at: '2001-01-01T00:00:00Z' })).id)).toEqual(['time'])
    const both = { follow_pace: true, expires_at: '2001-01-01T00:00:00Z', sender_id }
    expect(await preflight((await draft([], both)).id)).toEqual(['audience', 'sender', 'window', 'time'])

    await api.drain()
    expect(received()).toEqual([])
    expect(await preflight((await draft(['bob'])).id)).toEqual([])
  })

  it('go to everybody on the list once, and their counts add up', async () => {
    const list = await world.list('ada', 'bob', 'cyd', 'dan')
    const [dan] = (await get(`lists/${list}/contacts`)).data.filter((each: { name: string }) => each.name === 'dan')
    await api.call(`PATCH /api/lists/${list}/contacts/${dan.id}`, { json: { subscribed: false } })
    await post('suppressions', { email: 'cyd@example.com', scope: 'marketing' })
    const sender_id = await world.sender({ provider: 'capture' })
    const { id } = await draft(list, { sender_id, batch_size: 2, reply_to: 'desk@example.com' })
    expect(await progress(id)).toMatchObject({ standstill: { code: 'draft' }, counts: { audience: 4, not_planned: 4 } })
    const launched = await post(`campaigns/${id}/launch`)
    expect(launched).toMatchObject({ status: 'running', template_version: 1, scheduled: 2, skipped: 2, errors: [] })
    await api.drain()
    expect(await progress(id)).toMatchObject({
      status: 'sent',
      standstill: null,
      counts: { audience: 4, sent: 2, unsubscribed: 1, suppressed: 1, not_planned: 0, failed: 0 },
    })
    const inbox = (await get('inbox')).data as { id: string; recipient: string; subject: string }[]
    expect(inbox.map(({ recipient, subject }) => `${recipient}: ${subject}`).toSorted()).toEqual([
      'ada@example.com: Hi ada',
      'bob@example.com: Hi bob',
    ])
    const { body: raw } = await api.call(`GET /api/inbox/${inbox[0]!.id}/raw`)
    expect(raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r?$/m)
    expect(raw).toMatch(/^Reply-To: desk@example\.com\r?$/m)

    for (const verb of ['launch', 'pause', 'resume', 'cancel'])
      expect(await refused(`POST /api/campaigns/${id}/${verb}`)).toMatchObject({
        status: 409,
        code: 'campaign_conflict',
      })
    expect(await refused(`DELETE /api/campaigns/${id}`)).toMatchObject({ status: 409, code: 'campaign_conflict' })
    expect(await refused(`PATCH /api/campaigns/${id}`, { name: 'x' })).toMatchObject({ code: 'campaign_conflict' })
    expect(await post(`campaigns/${id}/retry`)).toMatchObject({ status: 'sent', retried: 0 })
    await api.drain()
    expect((await get('inbox')).data).toHaveLength(2)
  })

  it('launched by two at the same moment are launched once', async () => {
    const { id } = await draft()
    const other = await api.another()
    const launch = async ({ fetch }: typeof other) =>
      fetch(
        new Request(`http://localhost/api/campaigns/${id}/launch`, {
          method: 'POST',
          headers: { authorization: 'Bearer the-key-of-the-settings' },
        }),
      )
    const answers = await Promise.all([api.mail, other, api.mail, other].map(launch))
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['200', '409', '409', '409'])
    await Promise.all([api.drain(), other.tick(20_000)])
    expect(received()).toEqual(['ada@example.com', 'bob@example.com', 'cyd@example.com'])
    expect(await progress(id)).toMatchObject({ status: 'sent', counts: { audience: 3, sent: 3 } })
  })

  it('wait for the time they are scheduled for', async () => {
    const { id } = await draft()
    const at = new Date(Date.now() + HOUR_MS).toISOString()
    expect(await post(`campaigns/${id}/schedule`, { scheduled_at: at })).toMatchObject({
      status: 'scheduled',
      scheduled_at: at,
      started_at: null,
      scheduled: 3,
    })
    await api.drain()
    expect(await progress(id)).toMatchObject({
      status: 'scheduled',
      standstill: { code: 'waiting_for_start', until: at },
      counts: { not_planned: 3 },
    })
    // Paused past its time, it starts when it is resumed.
    expect(await post(`campaigns/${id}/pause`)).toMatchObject({ status: 'paused' })
    await api.shiftClock(HOUR_MS)
    await api.drain()
    expect(received()).toEqual([])
    await post(`campaigns/${id}/resume`)
    await api.drain()
    expect(received()).toHaveLength(3)
    expect((await get(`campaigns/${id}`)).status).toBe('sent')
    expect(await refused(`POST /api/campaigns/${id}/schedule`, { scheduled_at: LATER })).toMatchObject({ status: 409 })
  })

  it('are paused with what is queued already, resumed, and canceled for good', async () => {
    const sender_id = await world.sender()
    const { id } = await draft(['ada', 'bob', 'cyd'], { sender_id })
    for (const verb of ['pause', 'resume', 'cancel', 'retry'])
      expect(await refused(`POST /api/campaigns/${id}/${verb}`)).toMatchObject({
        status: 409,
        code: 'campaign_conflict',
      })
    await post(`campaigns/${id}/launch`)
    // The sender is held, so that everything is planned and nothing goes out.
    await post(`senders/${sender_id}/pause`, { reason: 'moving house' })
    await api.drain()
    expect(await progress(id)).toMatchObject({ standstill: { code: 'sender_paused' } })
    expect(await post(`campaigns/${id}/pause`)).toMatchObject({ status: 'paused' })
    expect(await refused(`POST /api/campaigns/${id}/pause`)).toMatchObject({ status: 409 })
    await post(`senders/${sender_id}/resume`)
    await api.drain()
    expect([received(), await progress(id)]).toMatchObject([[], { standstill: { code: 'paused' } }])
    expect(await post(`campaigns/${id}/resume`)).toMatchObject({ status: 'running' })
    expect(await refused(`POST /api/campaigns/${id}/resume`)).toMatchObject({ status: 409 })
    const canceled = await post(`campaigns/${id}/cancel`)
    expect(canceled).toMatchObject({ status: 'canceled', finished_at: expect.any(String) })
    await api.drain()
    expect(received()).toEqual([])
    const { standstill, counts } = await progress(id)
    expect(standstill.code).toBe('canceled')
    expect(counts.not_planned + counts.canceled).toBe(3)
    for (const verb of ['launch', 'pause', 'resume', 'cancel', 'retry'])
      expect(await refused(`POST /api/campaigns/${id}/${verb}`)).toMatchObject({ status: 409 })
  })

  it('send what failed again, all at once', async () => {
    const { id } = await draft()
    api.answer('rcpt', '554 5.6.0 not that', 2)
    await post(`campaigns/${id}/launch`)
    await api.drain()
    const before = await progress(id)
    expect(before).toMatchObject({ status: 'sent', counts: { sent: 1, failed: 2 } })
    expect(before.last_error).toMatchObject({ code: 'message', text: expect.stringContaining('not that') })
    expect(await post(`campaigns/${id}/retry`)).toMatchObject({ status: 'running', finished_at: null, retried: 2 })
    await api.drain()
    expect(await progress(id)).toMatchObject({ status: 'sent', counts: { sent: 3, failed: 0 }, last_error: null })
    expect(received()).toEqual(['ada@example.com', 'bob@example.com', 'cyd@example.com'])
  })

  it('have emails like any other: listed, shown, canceled, retried, resolved', async () => {
    const sender_id = await world.sender()
    const { id } = await draft(['ada', 'bob', 'cyd', 'dan'], { sender_id })
    const single = await post('emails', { to: 'eve@example.com', subject: 'alone', text: 'x', scheduled_at: LATER })
    await post(`campaigns/${id}/launch`)
    await api.mail.tick(20_000)
    expect(await world.emails(id)).toHaveLength(4)
    expect((await get('emails?limit=100')).data).toHaveLength(5)
    expect((await get(`emails?campaign_id=${id}&to=ADA@example.com`)).data).toMatchObject([
      { to: ['ada <ada@example.com>'], subject: 'Hi ada', campaign_id: id, status: 'sent' },
    ])
    expect((await get(`campaigns/${id}/scheduled-emails`)).data).toEqual([])
    const page = await get(`campaigns/${id}/scheduled-emails?status=sent&limit=3`)
    expect(page).toMatchObject({ has_more: true, data: [{ next_attempt_at: null }, {}, {}] })
    expect((await get(`campaigns/${id}/scheduled-emails?status=sent&after=${page.data[2].id}`)).data).toHaveLength(1)

    const [first, second] = (await world.emails(id)) as [Shown, Shown]
    const shown = await get(`emails/${first.id}`)
    expect(shown).toMatchObject({
      campaign_id: id,
      status: 'sent',
      text: expect.stringContaining('Hello'),
      headers: { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
      attempts: [{ outcome: 'accepted' }],
    })
    const taken = api.server.taken.find(({ raw }) => raw.includes(shown.message_id))!
    expect(taken.raw.toString()).toContain(`Subject: ${shown.subject}`)

    await api.force(first.id, 'failed')
    await api.force(second.id, 'uncertain')
    expect(await progress(id)).toMatchObject({ counts: { audience: 4, sent: 2, failed: 1, uncertain: 1 } })
    await post(`emails/${first.id}/retry`)
    expect((await get(`campaigns/${id}`)).status).toBe('running')
    expect((await get(`campaigns/${id}/scheduled-emails`)).data).toMatchObject([
      { id: first.id, next_attempt_at: expect.any(String) },
    ])
    expect(await post(`emails/${first.id}/cancel`)).toMatchObject({ status: 'canceled' })
    expect(await post(`emails/${second.id}/resolve`, { outcome: 'sent' })).toMatchObject({ status: 'sent' })
    await api.drain()
    expect(await progress(id)).toMatchObject({ status: 'sent', counts: { sent: 3, canceled: 1 } })
    expect((await get(`emails/${single.id}`)).status).toBe('scheduled')
    expect(received()).toHaveLength(4)
  })

  it('retried email by email and as a whole at the same moment never wait for each other', async () => {
    const { id } = await draft(Array.from({ length: 20 }, (_, i) => `p${i}`))
    api.answer('rcpt', '554 5.6.0 not that', 20)
    await post(`campaigns/${id}/launch`)
    await api.drain()
    const emails = await world.emails(id, '&limit=100')
    const answers = await Promise.all([
      ...emails.map((email) => api.call(`POST /api/emails/${email.id}/retry`)),
      api.call(`POST /api/campaigns/${id}/retry`),
      api.call('POST /api/admin/outbox/retry'),
    ])
    // One retried meanwhile is a conflict; a deadlock would be a 503.
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
    await api.drain()
    expect(await progress(id)).toMatchObject({ status: 'sent', counts: { sent: 20 } })
    expect(new Set(received()).size).toBe(20)
    expect(received()).toHaveLength(20)
  })

  it('are tried out at one address, whose link unsubscribes nobody else', async () => {
    const { id } = await draft(['ada'])
    const sent = await api.call(`POST /api/campaigns/${id}/test`, { json: { to: 'me@example.com' } })
    expect([sent.status, sent.body]).toMatchObject([202, { status: 'scheduled' }])
    await api.drain()
    const email = await get(`emails/${sent.body.id}`)
    expect(email).toMatchObject({ status: 'sent', to: ['me@example.com'], subject: '[Test] Hi ada', campaign_id: null })
    const [path] = /\/u\/[\w-]+/.exec(email.text as string)!
    await api.mail.fetch(
      new Request(`http://localhost${path}`, {
        method: 'POST',
        body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
      }),
    )
    expect(await get(`campaigns/${id}/preflight`)).toMatchObject({ ok: true })
    expect((await get(`campaigns/${id}`)).status).toBe('draft')

    expect(await refused(`POST /api/campaigns/${id}/test`, { to: 'nobody' })).toMatchObject({
      code: 'campaign_invalid',
      errors: [{ pointer: '/to' }],
    })
    const empty = await draft([])
    expect(await refused(`POST /api/campaigns/${empty.id}/test`, { to: 'me@example.com' })).toMatchObject({
      status: 422,
      code: 'campaign_not_ready',
    })
  })

  it('keep what they need from being removed', async () => {
    const sender_id = await world.sender()
    const list = await world.list('ada')
    const template_id = await world.template()
    const { id } = await draft(list, { sender_id, template_id })
    const remove = async () => [
      (await api.call(`DELETE /api/lists/${list}`)).body.code,
      (await api.call(`DELETE /api/templates/${template_id}`)).body.code,
      (await api.call(`DELETE /api/senders/${sender_id}`)).body.code,
    ]
    const needed = ['list_conflict', 'template_conflict', 'sender_conflict']
    expect(await remove()).toEqual(needed)
    expect((await api.call(`DELETE /api/senders/${sender_id}`)).body.detail).toContain('"News"')
    await post(`campaigns/${id}/launch`)
    expect(await remove()).toEqual(needed)
    await api.drain()
    // What it sent is still shown by them, and what failed can be retried.
    expect(await remove()).toEqual(needed)
    expect(await get(`emails/${(await world.emails(id))[0]!.id}`)).toMatchObject({ status: 'sent' })
    expect(await progress(id)).toMatchObject({ status: 'sent', counts: { sent: 1 }, standstill: null })
  })

  it('take nothing from another workspace', async () => {
    const other = await api.elsewhere()
    const { id } = await draft(['ada'])
    for (const [name, value] of [
      ['list_id', other.list],
      ['template_id', other.template],
      ['sender_id', other.sender],
    ] as const)
      expect(await refused(`PATCH /api/campaigns/${id}`, { [name]: value })).toMatchObject({
        status: 422,
        errors: [{ pointer: `/${name}` }],
      })
    for (const path of ['', '/schedule', '/preflight', '/scheduled-emails'])
      expect((await api.call(`GET /api/campaigns/${id}${path}`, { key: other.key })).body.code).toBe(
        'campaign_not_found',
      )
    expect((await api.call(`GET /api/emails?campaign_id=${id}`, { key: other.key })).body.data).toEqual([])
  })
})
