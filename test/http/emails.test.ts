import { describe, expect, it } from 'vitest'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'

const LETTER = { to: 'Ada <ada@example.com>', subject: 'Hello', text: 'Hello.' }

describe.each(DATABASE_KINDS)('the emails of the API, on %s', (kind) => {
  const api = openApi(kind)
  const send = async (json: object = LETTER, headers = {}) =>
    (await api.call('POST /api/emails', { json, headers })).body as { id: string; status: string }

  it('accepts an email, sends it, and shows its whole life', async () => {
    const accepted = await api.call('POST /api/emails', {
      json: {
        ...LETTER,
        from: '"Doe, Jane" <jane@sender.test>',
        cc: ['grace@example.com'],
        reply_to: 'Back <back@sender.test>',
        headers: { 'X-Order': '17' },
        tags: [{ name: 'kind', value: 'greeting' }],
        attachments: [{ filename: 'a.txt', content: 'aGk=', content_type: 'text/plain', content_id: 'a' }],
      },
    })
    expect(accepted.status).toBe(202)
    expect(accepted.body).toMatchObject({ object: 'email', status: 'scheduled' })
    expect(accepted.body.id).toMatch(/^em_[0-9a-f]{32}$/)
    await api.drain()
    const { body } = await api.call(`GET /api/emails/${accepted.body.id}`)
    expect(body).toMatchObject({
      status: 'sent',
      last_event: 'sent',
      explain: 'The next mail server accepted it.',
      from: '"Doe, Jane" <jane@sender.test>',
      to: ['Ada <ada@example.com>'],
      cc: ['grace@example.com'],
      bcc: [],
      reply_to: ['Back <back@sender.test>'],
      headers: { 'X-Order': '17' },
      tags: [{ name: 'kind', value: 'greeting' }],
      attachments: [{ filename: 'a.txt', content_type: 'text/plain', content_id: 'a', size: 2 }],
      retry_policy: 'transactional',
      deliveries: [
        { recipient: 'ada@example.com', status: 'sent' },
        { recipient: 'grace@example.com', status: 'sent' },
      ],
      attempts: [{ outcome: 'accepted' }, { outcome: 'accepted' }],
    })
    expect(body.message_id).toMatch(/^<.+@sender\.test>$/)
  })

  it('sends inline within the request', async () => {
    expect((await send({ ...LETTER, delivery: 'inline' })).status).toBe('sent')
    api.answer('mail', '451 4.3.0 not now')
    const later = await send({ ...LETTER, delivery: 'inline' })
    expect(later.status).toBe('retry_scheduled')
    const { body } = await api.call(`GET /api/emails/${later.id}`)
    expect(body).toMatchObject({ last_event: 'delivery_delayed', attempts: [{ outcome: 'deferred', inline: true }] })
    expect(body.explain).toMatch(/^It did not go out yet: .*not now.* It goes out at /)
  })

  it('lists newest first, in pages either way, and by filter', async () => {
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.unshift((await send({ ...LETTER, to: `r${i}@Example.com`, subject: `No ${i}` })).id)
    const idsOf = async (query: string) => {
      const { body } = await api.call(`GET /api/emails${query}`)
      return [body.data.map(({ id }: { id: string }) => id), body.has_more]
    }
    expect(await idsOf('')).toEqual([ids, false])
    expect(await idsOf('?limit=2')).toEqual([ids.slice(0, 2), true])
    expect(await idsOf(`?limit=2&after=${ids[1]}`)).toEqual([ids.slice(2, 4), true])
    expect(await idsOf(`?limit=2&after=${ids[3]}`)).toEqual([ids.slice(4), false])
    expect(await idsOf(`?limit=2&before=${ids[4]}`)).toEqual([ids.slice(2, 4), true])
    expect(await idsOf(`?limit=2&before=${ids[2]}`)).toEqual([ids.slice(0, 2), false])
    expect(await idsOf('?to=R3@EXAMPLE.com')).toEqual([[ids[1]], false])
    expect(await idsOf('?q=no%202')).toEqual([[ids[2]], false])
    expect(await idsOf('?q=r4@')).toEqual([[ids[0]], false])
    expect(await idsOf('?status=sent')).toEqual([[], false])
    expect(await idsOf('?status=scheduled&limit=100')).toEqual([ids, false])
  })

  it('refuses pages that are none', async () => {
    for (const query of [
      'limit=0',
      'limit=101',
      'limit=x',
      'limit=',
      'after=em_1',
      'after=nonsense',
      'statos=sent',
      'status=lost',
      'q=%00',
      'to=%00',
    ])
      expect((await api.call(`GET /api/emails?${query}`)).status, query).toBe(422)
    const { id } = await send()
    const { body } = await api.call(`GET /api/emails?after=${id}&before=${id}`)
    expect(body).toMatchObject({ status: 422, errors: [{ in: 'query', pointer: '/before' }] })
  })

  it('moves a scheduled email and cancels it', async () => {
    const { id } = await send({ ...LETTER, scheduled_at: '2040-01-01T00:00:00Z' })
    const moved = await api.call(`PATCH /api/emails/${id}`, { json: { scheduled_at: '2041-02-03T04:05:06+01:00' } })
    expect(moved.body).toEqual({ object: 'email', id, status: 'scheduled' })
    const { body } = await api.call(`GET /api/emails/${id}`)
    expect(body).toMatchObject({
      scheduled_at: '2041-02-03T03:05:06.000Z',
      last_event: 'scheduled',
      explain: 'It goes out at 2041-02-03 03:05:06 UTC.',
      deliveries: [{ next_attempt_at: '2041-02-03T03:05:06.000Z' }],
      events: [{ type: 'rescheduled', payload: { by: 'POSTRIDER_API_KEY' } }],
    })
    expect((await api.call(`PATCH /api/emails/${id}`, { json: { scheduled_at: 'in 1 min' } })).body).toMatchObject({
      status: 422,
      errors: [{ in: 'body', pointer: '/scheduled_at' }],
    })
    expect((await api.call(`POST /api/emails/${id}/cancel`)).body.status).toBe('canceled')
    expect((await api.call(`POST /api/emails/${id}/cancel`)).body).toMatchObject({
      status: 409,
      code: 'email_conflict',
    })
    await api.drain()
    expect(api.server.taken).toHaveLength(0)
  })

  it('moves no email past its end, as it takes none that begins there', async () => {
    const end = '2040-06-01T00:00:00Z'
    const { id } = await send({ ...LETTER, scheduled_at: '2040-01-01T00:00:00Z', expires_at: end })
    for (const scheduled_at of [end, '2041-01-01T00:00:00Z'])
      expect((await api.call(`PATCH /api/emails/${id}`, { json: { scheduled_at } })).body).toMatchObject({
        status: 422,
        code: 'email_invalid',
        errors: [
          { in: 'body', pointer: '/scheduled_at', detail: expect.stringContaining('expires, which is at 2040-06-01') },
        ],
      })
    expect((await api.call(`GET /api/emails/${id}`)).body).toMatchObject({
      scheduled_at: '2040-01-01T00:00:00.000Z',
      explain: 'It goes out at 2040-01-01 00:00:00 UTC.',
      events: [],
    })
    const moved = await api.call(`PATCH /api/emails/${id}`, { json: { scheduled_at: '2040-05-31T23:59:59Z' } })
    expect(moved.status).toBe(200)
    await api.call(`POST /api/emails/${id}/cancel`)
    const late = await api.call(`PATCH /api/emails/${id}`, { json: { scheduled_at: '2041-01-01T00:00:00Z' } })
    expect(late.body.code).toBe('email_conflict')
  })

  it('retries a failed email, as the key that asked for it', async () => {
    const { id } = await send()
    await api.force(id, 'failed', '550 no')
    expect((await api.call(`GET /api/emails/${id}`)).body.explain).toBe(
      'It failed for good: 550 no. It stays so until somebody retries or dismisses it.',
    )
    const key = await api.makeKey(['manage'])
    expect((await api.call(`POST /api/emails/${id}/retry`, { key })).body.status).toBe('scheduled')
    expect((await api.call(`POST /api/emails/${id}/retry`, { key })).status).toBe(409)
    await api.drain()
    const { body } = await api.call(`GET /api/emails/${id}`)
    expect(body).toMatchObject({ status: 'sent', events: [{ type: 'retried', payload: { by: 'a test' } }] })
  })

  it('settles an uncertain email as a person decides', async () => {
    const [kept, again] = [await send(), await send()]
    for (const { id } of [kept, again]) await api.force(id, 'uncertain')
    expect((await api.call(`POST /api/emails/${kept.id}/resolve`, { json: { outcome: 'sent' } })).body.status).toBe(
      'sent',
    )
    const resent = await api.call(`POST /api/emails/${again.id}/resolve`, { json: { outcome: 'resend' } })
    expect(resent.body.status).toBe('scheduled')
    const wrong = await api.call(`POST /api/emails/${kept.id}/resolve`, { json: { outcome: 'gone' } })
    expect(wrong.body).toMatchObject({
      status: 422,
      errors: [{ pointer: '/outcome', detail: 'must be one of sent, resend' }],
    })
    expect((await api.call(`POST /api/emails/${kept.id}/resolve`, { json: { outcome: 'sent' } })).status).toBe(409)
    await api.drain()
    expect(api.server.taken).toHaveLength(1)
  })

  it('knows no email by an id that is none', async () => {
    const { id } = await send()
    for (const wrong of [
      'em_1',
      id.slice(3),
      `snd_${id.slice(3)}`,
      `${id}0`,
      id.toUpperCase(),
      'em_%00',
      "'",
      '%F0%9F',
    ])
      expect((await api.call(`GET /api/emails/${wrong}`)).status, wrong).toBe(404)
  })

  it('accepts a batch whole, or only what is valid of it', async () => {
    const good = { ...LETTER, subject: 'good' }
    const strict = await api.call('POST /api/emails/batch', { json: [good, good] })
    expect(strict.status).toBe(202)
    expect(strict.body.data).toHaveLength(2)
    expect(strict.body.errors).toBeUndefined()

    const mixed = [good, { ...good, to: 'nobody' }, { ...good, sbject: 1 }, good]
    const refused = await api.call('POST /api/emails/batch', { json: mixed })
    expect(refused.body).toMatchObject({ status: 422, errors: [{ pointer: '/2/sbject' }] })
    const refusedLater = await api.call('POST /api/emails/batch', { json: mixed.slice(0, 2) })
    expect(refusedLater.body).toMatchObject({ code: 'email_invalid', errors: [{ pointer: '/1/to' }] })

    const headers = { 'x-batch-validation': 'permissive' }
    const partly = await api.call('POST /api/emails/batch', { json: mixed, headers })
    expect(partly.body.data).toHaveLength(2)
    expect(partly.body.errors).toEqual([
      { index: 1, message: 'to must be one address, such as ada@example.com or Ada <ada@example.com>.' },
      { index: 2, message: 'sbject is not a known field (did you mean subject?).' },
    ])
    const none = await api.call('POST /api/emails/batch', { json: [1, { ...good, to: [] }], headers })
    expect(none.body).toMatchObject({ data: [], errors: [{ index: 0 }, { index: 1 }] })
    expect((await api.call('GET /api/emails?limit=100')).body.data).toHaveLength(4)

    const mode = await api.call('POST /api/emails/batch', { json: [good], headers: { 'x-batch-validation': 'lax' } })
    expect(mode.body).toMatchObject({ status: 422, errors: [{ in: 'header', pointer: '/x-batch-validation' }] })
  })
})
