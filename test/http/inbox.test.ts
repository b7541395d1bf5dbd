import { describe, expect, it } from 'vitest'
import { insertCapturedEmails } from '../../src/db/captured-emails.js'
import { DEFAULT_WORKSPACE, newId, showId } from '../../src/id.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi, RAW_EMAIL } from './api-fixture.js'

describe.each(DATABASE_KINDS)('the dev inbox, on %s', (kind) => {
  const api = openApi(kind, { smtpUrl: null })
  const capture = async (raw: string) => {
    const id = newId()
    const email = { id, workspaceId: DEFAULT_WORKSPACE, emailId: newId(), returnPath: 'a@b.org', recipient: 'c@d.org' }
    await insertCapturedEmails(api.mail.context.db, [{ ...email, raw: Buffer.from(raw) }])
    return showId('cap', id)
  }

  it('shows what was sent as a mail client would', async () => {
    const { body: sent } = await api.call('POST /api/emails', {
      json: {
        to: 'Ada <ada@example.com>',
        bcc: 'grace@example.com',
        reply_to: 'back@sender.test',
        subject: 'Grüße aus Köln',
        html: '<p>Hallo <b>Ada</b> <img src="cid:logo"></p>',
        headers: { 'X-Order': '17' },
        attachments: [
          {
            filename: 'Rechnung März.pdf',
            content: Buffer.from('%PDF').toString('base64'),
            content_type: 'application/pdf',
          },
          {
            filename: 'logo.png',
            content: Buffer.from('png').toString('base64'),
            content_type: 'image/png',
            content_id: 'logo',
          },
        ],
      },
    })
    await api.drain()
    const { body: list } = await api.call('GET /api/inbox')
    expect(list.data).toHaveLength(2)
    const mine = list.data.find(({ recipient }: { recipient: string }) => recipient === 'ada@example.com')
    expect(mine).toMatchObject({
      email_id: sent.id,
      from: 'Tests <tests@sender.test>',
      to: ['Ada <ada@example.com>'],
      subject: 'Grüße aus Köln',
    })
    const { body } = await api.call(`GET /api/inbox/${mine.id}`)
    expect(body).toMatchObject({ subject: 'Grüße aus Köln', reply_to: ['back@sender.test'], cc: [] })
    expect(body.html).toContain('<b>Ada</b>')
    expect(body.text).toContain('Hallo')
    expect(body.headers).toContainEqual({ name: 'X-Order', value: '17' })
    expect(JSON.stringify(body.headers)).not.toContain('grace@')
    expect(body.attachments).toMatchObject([
      { filename: 'logo.png', content_type: 'image/png', content_id: 'logo', size: 3 },
      { filename: 'Rechnung März.pdf', content_type: 'application/pdf', content_id: null, size: 4 },
    ])

    const pdf = await api.call(`GET /api/inbox/${mine.id}/attachments/1`)
    expect(pdf.body).toBe('%PDF')
    expect(pdf.headers.get('content-type')).toBe('application/pdf')
    expect(pdf.headers.get('content-disposition')).toBe(
      `attachment; filename="Rechnung_M_rz.pdf"; filename*=UTF-8''Rechnung%20M%C3%A4rz.pdf`,
    )
    const raw = await api.call(`GET /api/inbox/${mine.id}/raw`)
    expect(raw.headers.get('content-type')).toBe('message/rfc822')
    expect(raw.body).toMatch(/^X-Order: 17\r$/m)
    for (const n of ['2', '-1', 'x', '1e0', '99999'])
      expect((await api.call(`GET /api/inbox/${mine.id}/attachments/${n}`)).status).toBe(404)
  })

  it('lets a browser keep what it holds, never run it', async () => {
    const id = await capture(RAW_EMAIL)
    const { headers, body } = await api.call(`GET /api/inbox/${id}/attachments/0`)
    expect(body).toContain('<script>')
    expect(headers.get('content-disposition')).toMatch(/^attachment;/)
    expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    const evil = RAW_EMAIL.replaceAll('evil.html', 'a";\u00e9b.html')
    const named = await api.call(`GET /api/inbox/${await capture(evil)}/attachments/0`)
    expect(named.headers.get('content-disposition')).toMatch(
      /^attachment; filename="[\w.-]+"; filename\*=UTF-8''[\w.%-]+$/,
    )
  })

  it('reads also what is hardly an email', async () => {
    for (const raw of [
      '',
      '\r\n',
      'no headers at all',
      'Subject: x',
      '\u0000\r\n\r\n',
      'Content-Type: multipart/mixed\r\n\r\n--',
    ]) {
      const id = await capture(raw)
      expect((await api.call(`GET /api/inbox/${id}`)).status, JSON.stringify(raw)).toBe(200)
    }
    expect((await api.call('GET /api/inbox')).body.data).toHaveLength(6)
  })

  it('is paged, newest first, and emptied', async () => {
    const ids: string[] = []
    for (let i = 0; i < 3; i++) ids.unshift(await capture(RAW_EMAIL))
    const page = async (query: string) => {
      const { body } = await api.call(`GET /api/inbox${query}`)
      return [body.data.map(({ id }: { id: string }) => id), body.has_more]
    }
    expect(await page('')).toEqual([ids, false])
    expect(await page('?limit=2')).toEqual([ids.slice(0, 2), true])
    expect(await page(`?limit=2&after=${ids[1]}`)).toEqual([ids.slice(2), false])
    expect((await api.call('DELETE /api/inbox')).body).toEqual({ object: 'inbox', deleted: 3 })
    expect(await page('')).toEqual([[], false])
  })
})
