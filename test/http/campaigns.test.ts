import { describe, expect, it } from 'vitest'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'
import { openCampaignWorld } from './campaign-world.js'

const LATER = '2999-01-01T09:00:00Z'

describe.each(DATABASE_KINDS)('campaigns by HTTP, on %s', (kind) => {
  const api = openApi(kind)
  const world = openCampaignWorld(api)
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
    expect(await pointers({}, 'request_invalid')).toEqual(['/list_id', '/name'])
    expect(await pointers({ name: 'x', list_id })).toEqual(['/template_id'])
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
