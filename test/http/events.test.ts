import { describe, expect, it } from 'vitest'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'

describe.each(DATABASE_KINDS)('events reported to the API, on %s', (kind) => {
  const api = openApi(kind)
  const send = async (to: unknown = 'ada@example.com') =>
    (await api.call('POST /api/emails', { json: { to, subject: 's', text: 't' } })).body.id as string
  const report = (json: object) => api.call('POST /api/events/send', { json })
  const show = async (id: string) => (await api.call(`GET /api/emails/${id}`)).body

  it('settle an uncertain email: what was delivered was sent', async () => {
    const id = await send()
    await api.force(id, 'uncertain')
    expect((await report({ event: 'customer.happy', email_id: id })).body.settled).toBe(0)
    expect((await show(id)).status).toBe('uncertain')
    const { status, body } = await report({
      event: 'delivered',
      email_id: id,
      payload: { via: 'mx1', deep: [{ ok: true }] },
    })
    expect([status, body]).toEqual([
      201,
      {
        object: 'event',
        id: expect.stringMatching(/^evt_/),
        event: 'delivered',
        email_id: id,
        contact_id: null,
        duplicate: false,
        settled: 1,
        moved: 0,
      },
    ])
    expect(await show(id)).toMatchObject({
      status: 'sent',
      last_event: 'delivered',
      events: [{ type: 'customer.happy' }, { type: 'delivered', payload: { via: 'mx1', deep: [{ ok: true }] } }],
    })
  })

  it('know an email by its Message-ID, and one recipient of several', async () => {
    const id = await send(['ada@example.com', 'grace@example.com'])
    await api.force(id, 'uncertain')
    const { message_id: messageId } = await show(id)
    expect(
      (await report({ event: 'opened', message_id: messageId, recipient: 'GRACE@example.com' })).body.settled,
    ).toBe(1)
    expect((await show(id)).deliveries).toMatchObject([
      { recipient: 'ada@example.com', status: 'uncertain' },
      { recipient: 'grace@example.com', status: 'sent' },
    ])
  })

  it('keep whoever unsubscribed elsewhere from marketing, and from nothing else', async () => {
    const id = await send()
    await api.drain()
    await report({ event: 'unsubscribed', email_id: id })
    expect((await api.call('GET /api/suppressions')).body.data).toMatchObject([
      { email: 'ada@example.com', reason: 'unsubscribe', scope: 'marketing' },
    ])
    const reset = await send()
    await api.drain()
    expect((await show(reset)).status).toBe('sent')
  })

  it('suppress an address that bounced for good', async () => {
    const id = await send()
    await api.drain()
    await report({ event: 'bounced', email_id: id, recipient: 'ada@example.com', payload: { bounce_type: 'hard' } })
    expect((await api.call('GET /api/suppressions')).body.data).toMatchObject([
      { email: 'ada@example.com', reason: 'hard_bounce' },
    ])
  })

  it('are refused when they are none', async () => {
    const id = await send()
    expect((await report({ event: 'Not A Name', email_id: id })).body).toMatchObject({
      code: 'event_invalid',
      errors: [{ pointer: '/event' }],
    })
    expect((await report({ event: 'opened' })).body).toMatchObject({ status: 422, errors: [{ pointer: '/email_id' }] })
    expect((await report({ event: 'opened', email_id: id, message_id: '<x@y>' })).status).toBe(422)
    for (const wrong of ['em_1', '', 'nonsense', `snd_${id.slice(3)}`])
      expect((await report({ event: 'opened', email_id: wrong })).body.code).toBe('email_not_found')
    expect((await report({ event: 'opened', message_id: '<nobody@example.com>' })).body.code).toBe('email_not_found')
    const deep = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`
    const nested = `{"event":"opened","email_id":"${id}","payload":{"deep":${deep}}}`
    expect((await api.call('POST /api/events/send', { body: nested })).status).toBe(422)
    expect((await api.call('POST /api/emails', { body: `{"to":${deep}}` })).status).toBe(422)
    for (const payload of [{ a: 'x\u0000' }, { 'k\u0000': 1 }, { a: '\ud800' }, [], 'x', null, 5])
      expect((await report({ event: 'opened', email_id: id, payload })).status).toBe(422)
    expect((await report({ event: 'opened', email_id: id, recipient: 'a\u0000' })).status).toBe(422)
    const proto = `{"event":"opened","email_id":"${id}","payload":{"a":{"\\u005f_proto__":{"x":1}}}}`
    expect((await api.call('POST /api/events/send', { body: proto })).status).toBe(422)
    expect((await show(id)).events).toEqual([])
  })
})
