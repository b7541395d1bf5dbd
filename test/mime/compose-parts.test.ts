import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Attachment, Message } from '../../src/domain/message.js'
import { composeMessage } from '../../src/mime/compose-message.js'
import { PLAIN } from './messages.js'
import { expectSoundBytes, readMessage } from './read-message.js'

const PNG: Attachment = {
  filename: 'logo.png',
  contentType: 'image/png',
  contentId: 'logo',
  content: Buffer.from([0x89, 0x50, 0x4e, 0x47]),
}
const PDF: Attachment = {
  filename: 'a.pdf',
  contentType: 'application/pdf',
  contentId: null,
  content: Buffer.from('%PDF'),
}
const ICS = 'BEGIN:VCALENDAR\nVERSION:2.0\nMETHOD:REQUEST\nSUMMARY:Grüße\nEND:VCALENDAR\n'

async function compose(changes: Partial<Message>) {
  const message = { ...PLAIN, html: '<p><img src="cid:logo"></p>', ...changes }
  const bytes = await composeMessage(message)
  expectSoundBytes(bytes, message)
  return { raw: bytes.toString(), seen: await readMessage(bytes) }
}

/** The content types in the order in which they stand there. */
function shapeOf(raw: string): string[] {
  return [...raw.matchAll(/^Content-Type: ([^;\r]+)/gm)].map(([, type]) => type!)
}

describe('a message with parts', () => {
  it('relates inline images to the html and leaves attachments outside', async () => {
    const { raw, seen } = await compose({ attachments: [PNG, PDF] })
    expect(shapeOf(raw)).toEqual([
      'multipart/mixed',
      'multipart/alternative',
      'text/plain',
      'multipart/related',
      'text/html',
      'image/png',
      'application/pdf',
    ])
    expect(seen.attachments).toMatchObject([
      { filename: 'logo.png', contentId: '<logo>', disposition: 'inline', mimeType: 'image/png' },
      { filename: 'a.pdf', disposition: 'attachment', mimeType: 'application/pdf' },
    ])
  })

  it('carries an invitation as an alternative and as a file', async () => {
    const { raw, seen } = await compose({ calendar: { method: 'REQUEST', ics: ICS } })
    expect(shapeOf(raw)).toEqual([
      'multipart/mixed',
      'multipart/alternative',
      'text/plain',
      'text/html',
      'text/calendar',
      'application/ics',
    ])
    expect(raw).toMatch(/^Content-Type: text\/calendar; charset=utf-8; method=REQUEST\r$/m)
    const onTheWire = Buffer.from(ICS.replaceAll('\n', '\r\n')).toString('base64')
    expect(raw.replaceAll('\r\n', '')).toContain(onTheWire)
    // postal-mime gives calendars back with plain newlines.
    const content = Buffer.from(ICS).toString('base64')
    expect(seen.attachments).toMatchObject([
      { mimeType: 'text/calendar', method: 'REQUEST', content },
      { mimeType: 'application/ics', filename: 'invite.ics', disposition: 'attachment', content },
    ])
    expect((await compose({ calendar: { method: 'CANCEL', ics: ICS } })).raw).toContain('method=CANCEL')
  })

  it('may be a file and nothing else', async () => {
    const { seen } = await compose({ text: null, html: null, attachments: [PDF] })
    expect(seen.attachments).toMatchObject([{ filename: 'a.pdf', content: Buffer.from('%PDF').toString('base64') }])
  })

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\ada\\a.txt', 'a.txt'],
    ['a\r\nBcc: evil@evil.test', 'a Bcc: evil@evil.test'],
    ['a\0b.txt', 'a b.txt'],
    ['a"; filename="b.exe', 'a"; filename="b.exe'],
    ['a\uD800.txt', 'a\uFFFD.txt'],
    ['résumé 日本 🚀.pdf', 'résumé 日本 🚀.pdf'],
    ['', 'attachment-1'],
    ['/', 'attachment-1'],
    ['..', '..'],
    ['x'.repeat(1_000), 'x'.repeat(255)],
  ])('names a file %j as %j', async (filename, seen) => {
    expect((await compose({ attachments: [{ ...PDF, filename }] })).seen.attachments).toMatchObject([
      { filename: seen },
    ])
  })

  it.each([
    ['text/csv; charset="utf-8"', 'text/csv'],
    ['TEXT/CSV', 'text/csv'],
    ['', 'application/octet-stream'],
    ['nonsense', 'application/octet-stream'],
    ['text/html\r\nBcc: evil@evil.test', 'application/octet-stream'],
    ['text/html; x=\0', 'application/octet-stream'],
    ['text/html; name="a"b', 'application/octet-stream'],
    ['multipart/mixed; boundary=x', 'application/octet-stream'],
    ['Multipart/Mixed', 'application/octet-stream'],
    ['message/rfc822', 'application/octet-stream'],
    ["text/plain; filename*=utf-8''%0d%0a", 'text/plain'],
  ])('calls the content type %j %j', async (contentType, mimeType) => {
    expect((await compose({ attachments: [{ ...PDF, contentType }] })).seen.attachments).toMatchObject([{ mimeType }])
  })

  it('delivers every byte of a file', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2_000 }), async (content) => {
        const { seen } = await compose({ attachments: [{ ...PDF, content }] })
        expect(seen.attachments[0]!.content).toBe(Buffer.from(content).toString('base64'))
      }),
      { numRuns: 50 },
    )
  })

  it('lets no content id out of its header', async () => {
    const { seen } = await compose({ attachments: [{ ...PNG, contentId: 'logo>\r\nBcc: <é evil@evil.test' }] })
    expect(seen.attachments).toMatchObject([{ contentId: '<logoBcc:evil@evil.test>' }])
  })

  it('is never asked to read a file or a URL', async () => {
    const smuggled = { ...PDF, path: '/etc/hostname', href: 'http://127.0.0.1/', raw: 'Bcc: x@y\r\n\r\n' } as Attachment
    const { seen } = await compose({ attachments: [smuggled] })
    expect(seen.attachments).toMatchObject([{ content: Buffer.from('%PDF').toString('base64') }])
  })
})
