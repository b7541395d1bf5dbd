import { describe, expect, it } from 'vitest'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'

describe.each(DATABASE_KINDS)('the outbox, on %s', (kind) => {
  const api = openApi(kind)
  const send = async (to: string, extra: object = {}) =>
    (await api.call('POST /api/emails', { json: { to, subject: `To ${to}`, text: 'Hello.', ...extra } })).body
      .id as string
  const outbox = async (query = '') => {
    const { body } = await api.call(`GET /api/admin/outbox${query}`)
    return [body.data.map(({ id }: { id: string }) => id), body.has_more]
  }

  it('shows what has not gone out and what needs somebody, newest first', async () => {
    const sent = await send('sent@example.com')
    await api.drain()
    const later = await send('later@example.com', { scheduled_at: '2040-01-01T00:00:00Z' })
    const canceled = await send('canceled@example.com')
    await api.call(`POST /api/emails/${canceled}/cancel`)
    const failed = await send('failed@example.com')
    await api.force(failed, 'failed', '550 5.1.1 nobody')
    const uncertain = await send('uncertain@example.com')
    await api.force(uncertain, 'uncertain')
    api.answer('mail', '451 4.3.0 not now')
    const again = await send('again@example.com')
    await api.drain()
    const due = await send('due@example.com')

    const all = [due, again, uncertain, failed, later]
    expect(await outbox()).toEqual([all, false])
    expect(JSON.stringify(await outbox())).not.toContain(sent)
    expect(await outbox('?limit=2')).toEqual([all.slice(0, 2), true])
    expect(await outbox(`?limit=2&after=${again}`)).toEqual([all.slice(2, 4), true])
    expect(await outbox(`?limit=2&before=${failed}`)).toEqual([all.slice(1, 3), true])
    expect(await outbox('?status=failed')).toEqual([[failed], false])
    expect(await outbox('?status=retry_scheduled')).toEqual([[again], false])
    expect((await api.call('GET /api/admin/outbox?status=sent')).status).toBe(422)

    const { body } = await api.call('GET /api/admin/outbox')
    expect(body.data[3]).toMatchObject({
      status: 'failed',
      to: ['failed@example.com'],
      subject: 'To failed@example.com',
      max_attempts: 5,
      next_attempt_at: null,
      last_error: '550 5.1.1 nobody',
    })
    expect(body.data[1]).toMatchObject({
      status: 'retry_scheduled',
      attempts: 1,
      last_error: expect.stringMatching(/not now/),
    })
    expect(body.data[1].next_attempt_at).toMatch(/Z$/)

    expect((await api.call('GET /api/admin/dashboard')).body).toMatchObject({
      object: 'dashboard',
      pending_email_count: 3,
      sending_email_count: 0,
      failed_email_count: 1,
      uncertain_email_count: 1,
      due_now: 1,
      next_hour: 1,
    })
  })

  it('retries and dismisses one', async () => {
    const [retried, dismissed] = [await send('a@example.com'), await send('b@example.com')]
    for (const id of [retried, dismissed]) await api.force(id, 'failed')
    expect((await api.call(`POST /api/admin/outbox/${retried}/retry`)).body.status).toBe('scheduled')
    expect((await api.call(`DELETE /api/admin/outbox/${dismissed}`)).body.status).toBe('dismissed')
    expect((await api.call(`DELETE /api/admin/outbox/${dismissed}`)).body.code).toBe('email_conflict')
    await api.drain()
    expect(await outbox()).toEqual([[], false])
    expect((await api.call(`GET /api/emails/${dismissed}`)).body).toMatchObject({
      status: 'dismissed',
      explain: 'It failed, and somebody dismissed it.',
    })
    expect(api.server.taken.map(({ rcpt }) => rcpt.slice('RCPT TO:'.length))).toEqual(['<a@example.com>'])
  })

  it('retries and dismisses all that match, and no others', async () => {
    const { key, email } = await api.elsewhere()
    await api.drain()
    await api.force(email, 'failed')
    const ids = []
    for (const to of ['x1@example.com', 'x2@example.com', 'y@example.org', 'z@example.net']) ids.push(await send(to))
    for (const id of ids) await api.force(id, 'failed')
    const decide = async (decision: string, json?: object) =>
      (await api.call(`POST /api/admin/outbox/${decision}`, { json })).body.changed as number
    expect(await decide('dismiss', { q: 'nobody like this' })).toBe(0)
    expect(await decide('retry', { q: 'x', to: 'X2@example.com' })).toBe(1)
    expect(await decide('retry', { q: 'example.org' })).toBe(1)
    expect(await decide('dismiss')).toBe(2)
    expect(await decide('dismiss', {})).toBe(0)
    expect((await api.call('POST /api/admin/outbox/retry', { json: { status: 'failed' } })).status).toBe(422)
    await api.drain()
    const reached = api.server.taken.map(({ rcpt }) => rcpt).filter((rcpt) => rcpt.includes('@example.'))
    expect(reached.toSorted()).toEqual(['RCPT TO:<x2@example.com>', 'RCPT TO:<y@example.org>'])
    expect((await api.call(`GET /api/emails/${email}`, { key })).body.status).toBe('failed')
  })
})
