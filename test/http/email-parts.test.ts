import PostalMime from 'postal-mime'
import { describe, expect, it } from 'vitest'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'

describe.each(DATABASE_KINDS)('what an email is made of, on %s', (kind) => {
  const api = openApi(kind)
  const send = async (json: object) =>
    (await api.call('POST /api/emails', { json: { to: 'Ada <ada@example.com>', subject: 'Grüße', ...json } })).body
      .id as string
  const file = (filename: string, content: string, contentType: string) => ({
    filename,
    content: Buffer.from(content).toString('base64'),
    content_type: contentType,
  })

  it('is to be had as it goes over the wire', async () => {
    const id = await send({ html: '<p>Hallo</p>', attachments: [file('März.pdf', '%PDF', 'application/pdf')] })
    await api.drain()
    const { body, headers } = await api.call(`GET /api/emails/${id}/raw`)
    expect(body).toBe(api.server.taken[0]!.raw.toString())
    expect(headers.get('content-type')).toBe('message/rfc822')
    expect(headers.get('content-disposition')).toContain(`attachment; filename="${id}.eml"`)
    const parsed = await PostalMime.parse(body as string)
    expect(parsed).toMatchObject({ subject: 'Grüße', attachments: [{ filename: 'März.pdf' }] })
  })

  it('gives out its attachments one by one, to be kept and never to be run', async () => {
    const id = await send({
      text: 'Hello.',
      attachments: [file('a.txt', 'first', 'text/plain'), file('evil.html', '<script>alert(1)</script>', 'text/html')],
    })
    const second = await api.call(`GET /api/emails/${id}/attachments/1`)
    expect(second.body).toBe('<script>alert(1)</script>')
    expect(second.headers.get('content-disposition')).toMatch(/^attachment; filename="evil.html"/)
    expect(second.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
    expect((await api.call(`GET /api/emails/${id}/attachments/0`)).body).toBe('first')
    for (const n of ['2', '-1', 'x', '1e0', '99999'])
      expect((await api.call(`GET /api/emails/${id}/attachments/${n}`)).body.code).toBe('not_found')
  })

  it('is shown in the list with whose it is, what was tried and what comes next', async () => {
    api.answer('mail', '451 4.3.0 not now')
    const again = await send({ text: 'Hello.' })
    await api.drain()
    const { body: list } = await api.call('GET /api/emails')
    const { body: one } = await api.call(`GET /api/emails/${again}`)
    expect(list.data[0]).toMatchObject({
      id: again,
      sender_id: one.sender_id,
      campaign_name: null,
      attempts: 1,
      next_attempt_at: one.deliveries[0].next_attempt_at,
      last_error: one.deliveries[0].reason,
      updated_at: one.deliveries[0].updated_at,
    })
    expect(list.data[0].last_error).toContain('not now')
    expect(Date.parse(list.data[0].next_attempt_at as string)).toBeGreaterThan(Date.now())
  })
})
