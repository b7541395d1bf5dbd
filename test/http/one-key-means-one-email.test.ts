import { describe, expect, it } from 'vitest'
import { newId } from '../../src/id.js'
import { until } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'

const LETTER = { to: 'ada@example.com', subject: 'Hello', text: 'Hello.' }

describe.each(DATABASE_KINDS)('one idempotency key means one email, on %s', (kind) => {
  const api = openApi(kind)
  const post = (key: string, json: unknown = LETTER, path = '/api/emails', headers = {}) =>
    api.call(`POST ${path}`, { json, headers: { 'idempotency-key': key, ...headers } })
  const count = async () => {
    const { rows } = await api.mail.context.db.query<{ count: number }>(
      'select count(*)::int as count from postrider.messages',
    )
    return rows[0]!.count
  }

  it('however many ask at once', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => post('once')))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1)
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(99)
    expect(await count()).toBe(1)
    await api.drain()
    expect(api.server.taken).toHaveLength(1)
  })

  it('also later, in another order of fields, and however far the email has come', async () => {
    const first = await post('again')
    await api.drain()
    const { to, subject, text } = LETTER
    const second = await post('again', { text, subject, to })
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.body).toEqual(first.body)
    expect(await count()).toBe(1)
  })

  it('and another body is refused', async () => {
    await post('taken')
    for (const json of [
      { ...LETTER, subject: 'Other' },
      { ...LETTER, to: ['ada@example.com'] },
      { ...LETTER, html: '' },
    ])
      expect((await post('taken', json)).body).toMatchObject({ status: 422, code: 'idempotency_mismatch' })
    expect((await post('taken', [LETTER, LETTER], '/api/emails/batch')).body.code).toBe('idempotency_mismatch')
    expect(await count()).toBe(1)
  })

  it('and no key is another’s with something added', async () => {
    await post('order:7', [LETTER, LETTER], '/api/emails/batch')
    await post('invoice', { ...LETTER, to: ['ada@example.com', 'bob@example.com'] })
    const others = ['order:7:0', 'order:7:1', 'invoice:ada@example.com', 'invoice:1:ada@example.com']
    for (const key of others) expect(await post(key)).toMatchObject({ status: 202 })
    expect(await count()).toBe(3 + others.length)
  })

  it('and one that the database refuses fails nobody who asks at the same moment', async () => {
    await api.mail.actions.schedule({ type: 'note', laneId: newId(), dedupeKey: 'email:mine' })
    const { key: elsewhere } = await api.elsewhere()
    const before = await count()
    const asked = Array.from({ length: 40 }, (_, i) =>
      i === 20 ? post('mine') : api.call('POST /api/emails', { json: LETTER, ...(i % 2 && { key: elsewhere }) }),
    )
    const answers = await Promise.all(asked)
    expect(answers[20]!.body).toMatchObject({ status: 422, code: 'idempotency_mismatch' })
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(39)
    expect(await count()).toBe(before + 39)
  })

  it('but only within its workspace', async () => {
    const { key } = await api.elsewhere()
    const there = await api.call('POST /api/emails', { key, json: LETTER, headers: { 'idempotency-key': 'shared' } })
    const here = await post('shared')
    expect(here.headers.get('idempotency-replayed')).toBeNull()
    expect(here.body.id).not.toBe(there.body.id)
  })

  it('also for a batch, strict or permissive', async () => {
    const batch = [LETTER, { ...LETTER, subject: 'Two' }]
    const answers = await Promise.all(Array.from({ length: 10 }, () => post('batch', batch, '/api/emails/batch')))
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(9)
    expect(await count()).toBe(2)

    const mixed = [{ ...LETTER, to: 'nobody' }, { nonsense: true }, LETTER]
    const permissive = () => post('mixed', mixed, '/api/emails/batch', { 'x-batch-validation': 'permissive' })
    const [first, second] = [await permissive(), await permissive()]
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.body).toEqual(first.body)
    expect(first.body.errors.map(({ index }: { index: number }) => index)).toEqual([0, 1])
    expect(await count()).toBe(3)
  })

  it('answers 409 while the first call is still sending, and its outcome afterwards', async () => {
    api.answer('dot', { do: 'hang' }, 1)
    const inline = { ...LETTER, delivery: 'inline' }
    const first = post('inline', inline)
    await until('the email is on the wire', async () => {
      const { body } = await api.call('GET /api/emails?status=sending')
      return body.data.length === 1
    })
    const second = await post('inline', inline)
    expect(second.body).toMatchObject({ status: 409, code: 'idempotency_in_flight' })
    expect(second.headers.get('retry-after')).toBe('1')
    const answered = await first
    expect(answered.body.status).toBe('uncertain')
    const third = await post('inline', inline)
    expect(third.headers.get('idempotency-replayed')).toBe('true')
    expect(third.body).toEqual(answered.body)
    expect(await count()).toBe(1)
  })

  it('refuses a key that is none', async () => {
    for (const key of ['', 'k'.repeat(257)])
      expect((await post(key)).body).toMatchObject({
        status: 422,
        errors: [{ in: 'header', pointer: '/Idempotency-Key' }],
      })
    expect((await post('k'.repeat(256))).status).toBe(202)
  })
})
