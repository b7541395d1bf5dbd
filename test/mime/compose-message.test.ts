import fc from 'fast-check'
import MailComposer from 'nodemailer/lib/mail-composer'
import { describe, expect, it } from 'vitest'
import type { Mailbox, Message } from '../../src/domain/message.js'
import { composeMessage } from '../../src/mime/compose-message.js'
import { attachments, lineOfText, messageOf, PLAIN, tameLineOfText } from './messages.js'
import { expectSoundBytes, headerNames, readMessage, seenOf } from './read-message.js'

/** The same message by nodemailer's composer alone, headers and all. */
async function composeByNodemailer(message: Message): Promise<Buffer> {
  const toNodemailer = ({ name, address }: Mailbox) => ({ name: name ?? '', address })
  return new MailComposer({
    from: toNodemailer(message.from),
    to: message.to.map(toNodemailer),
    cc: message.cc.map(toNodemailer),
    bcc: message.bcc.map(toNodemailer),
    replyTo: message.replyTo.map(toNodemailer),
    subject: message.subject,
    messageId: message.messageId,
    date: message.date,
    headers: { ...message.headers },
    ...(message.text !== null && { text: message.text.replaceAll(/\r\n?|\n/g, '\r\n') }),
    ...(message.html !== null && { html: message.html.replaceAll(/\r\n?|\n/g, '\r\n') }),
    ...(message.calendar && { icalEvent: { method: message.calendar.method, content: message.calendar.ics } }),
    attachments: message.attachments.map(({ filename, contentType, contentId, content }) => ({
      filename,
      contentType,
      content: Buffer.from(content),
      ...(contentId !== null && { cid: contentId }),
    })),
  })
    .compile()
    .build()
}

const compose = async (changes: Partial<Message>) => composeMessage({ ...PLAIN, ...changes })
const composeText = async (changes: Partial<Message>) => (await compose(changes)).toString()

describe('a composed message', () => {
  it('is sound, and says to a reader what the message says', async () => {
    await fc.assert(
      fc.asyncProperty(messageOf(lineOfText), async (message) => {
        const bytes = await composeMessage(message)
        expectSoundBytes(bytes, message)
        expect(await readMessage(bytes)).toEqual(seenOf(message))
      }),
      { numRuns: 500 },
    )
  })

  it("reads like nodemailer's", async () => {
    await fc.assert(
      fc.asyncProperty(messageOf(tameLineOfText), async (message) => {
        const theirs = await composeByNodemailer(message)
        expect(await readMessage(await composeMessage(message))).toEqual(await readMessage(theirs))
      }),
      { numRuns: 200 },
    )
  })

  it("reads like nodemailer's with attachments, and is as sound", async () => {
    const cid = fc.constantFrom('logo', 'img1@example.com', null)
    const message = fc.tuple(messageOf(tameLineOfText), attachments, cid).map(([message, attachments, contentId]) => ({
      ...message,
      attachments: attachments.map((attachment, index) =>
        index === 0 && attachment.contentType === 'image/png' ? { ...attachment, contentId } : attachment,
      ),
    }))
    await fc.assert(
      fc.asyncProperty(message, async (message) => {
        const bytes = await composeMessage(message)
        expectSoundBytes(bytes, message)
        expect(await readMessage(bytes)).toEqual(await readMessage(await composeByNodemailer(message)))
      }),
      { numRuns: 100 },
    )
  })

  it('holds nothing injected, whatever control characters got as far as this', async () => {
    const hostile = fc
      .array(
        fc.oneof(
          lineOfText,
          fc.constantFrom('\r\n', '\n', '\r', '\0', '\u2028', '\x85', '\r\n\r\n', '\r\nBcc: e@e.test'),
        ),
      )
      .map((parts) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(messageOf(hostile), hostile, async (message, text) => {
        const message2 = { ...message, messageId: `<a${text}@b>`, to: [{ name: text, address: `x${text}@y.org` }] }
        const bytes = await composeMessage(message2)
        expect(headerNames(bytes).filter((name) => /bcc/i.test(name))).toEqual([])
        expect(bytes.toString('latin1')).not.toMatch(/\r(?!\n)|(?<!\r)\n/)
        const names = headerNames(bytes).filter((name) => name !== 'Subject' && name !== 'Content-Transfer-Encoding')
        const expected = ['From', 'To', 'Cc', 'Reply-To', 'Date', 'Message-ID', ...Object.keys(message.headers)]
        for (const name of names) expect([...expected, 'MIME-Version', 'Content-Type']).toContain(name)
        expect(new Set(names).size).toBe(names.length)
      }),
      { numRuns: 200 },
    )
  })

  it('is the same, byte for byte, every time', async () => {
    const attachment = { filename: 'a.txt', contentType: 'text/plain', contentId: null, content: Buffer.from('a') }
    for (const changes of [{}, { html: '<p>é</p>' }, { attachments: [attachment], html: '<p>x</p>' }])
      expect(await composeText(changes)).toBe(await composeText(changes))
  })

  it('of text is what it looks like', async () => {
    expect(await composeText({})).toBe(
      [
        'From: Ada Lovelace <ada@example.com>',
        'To: bob@example.org',
        'Subject: Hello',
        'Date: Mon, 16 Nov 2026 03:04:05 +0000',
        `Message-ID: ${PLAIN.messageId}`,
        'MIME-Version: 1.0',
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: 7bit',
        '',
        'Hello Bob',
        '',
      ].join('\r\n'),
    )
  })

  it('folds a long subject before 76 characters', async () => {
    for (const subject of ['word '.repeat(60).trim(), 'wörd '.repeat(60).trim()]) {
      const [head] = (await composeText({ subject })).split('\r\n\r\n')
      for (const line of head!.split('\r\n')) expect(line.length).toBeLessThanOrEqual(76)
    }
  })

  it('quotes a name only when it must', async () => {
    const from = async (name: string) => (await composeText({ from: { name, address: 'a@x.org' } })).split('\r\n')[0]
    expect(await from('Ada Lovelace')).toBe('From: Ada Lovelace <a@x.org>')
    expect(await from('Doe, Jane')).toBe('From: "Doe, Jane" <a@x.org>')
    expect(await from('J. "JD" \\ Doe')).toBe('From: "J. \\"JD\\" \\\\ Doe" <a@x.org>')
    expect(await from('Zoë')).toBe('From: =?utf-8?Q?Zo=C3=AB?= <a@x.org>')
    expect(await from('=?utf-8?Q?x?=')).toBe('From: =?utf-8?B?PT91dGYtOD9RP3g/PQ==?= <a@x.org>')
  })

  it('has ASCII domains, and UTF-8 only in a local part that has no other form', async () => {
    expect(await composeText({ to: [{ address: 'x@bücher.de', name: null }] })).toContain('To: x@xn--bcher-kva.de\r\n')
    const bytes = await compose({ to: [{ address: 'zoë@bücher.de', name: null }] })
    expect(bytes.toString()).toContain('To: <zoë@xn--bcher-kva.de>\r\n')
    expect((await readMessage(bytes)).to).toEqual([{ name: '', address: 'zoë@xn--bcher-kva.de' }])
  })

  it('takes the smaller of quoted-printable and base64', async () => {
    expect(await composeText({ text: 'Many greetings and a good journey from Zoë' })).toContain('quoted-printable')
    expect(await composeText({ text: '日本語のメール' })).toContain('base64')
    expect(await composeText({ text: 'x'.repeat(998) })).toContain('7bit')
    expect(await composeText({ text: 'x'.repeat(999) })).toContain('quoted-printable')
    for (const text of ['ü'.repeat(2_000), `${'a'.repeat(74)}ü `.repeat(30), '日本語'.repeat(500)]) {
      const body = (await composeText({ text })).split('\r\n\r\n')[1]!
      for (const line of body.split('\r\n')) expect(line.length).toBeLessThanOrEqual(76)
    }
  })

  it('leaves no white space at the end of an encoded line, where servers may drop it', async () => {
    const text = 'a long enough text with trailing space \nand tab\t\nand ü \nend '
    const raw = await composeText({ text })
    expect(raw).toContain('quoted-printable')
    expect(raw).not.toMatch(/[ \t]\r\n/)
    expect((await readMessage(Buffer.from(raw))).text).toEqual(text.split('\n'))
  })

  it('keeps a run of spaces, and never makes a line of them', async () => {
    const subject = `a${' '.repeat(200)}b`
    const bytes = await compose({ subject })
    expectSoundBytes(bytes, { ...PLAIN, subject })
    expect((await readMessage(bytes)).subject).toBe(subject)
  })

  it('cannot be cut short by a text that contains its boundary', async () => {
    const boundary = /boundary="(.*)"/.exec(await composeText({ html: '<p>x</p>' }))![1]!
    const text = `before\n--${boundary}\nContent-Type: text/html\n\nevil\n--${boundary}--\nafter`
    const html = `<p>${text}</p>`
    expect(await readMessage(await compose({ text, html }))).toMatchObject({
      text: text.split('\n'),
      html: html.split('\n'),
    })
    const attachment = { filename: 'a.txt', contentType: 'text/plain', contentId: null, content: Buffer.from('a') }
    const rich = await composeText({ html: '<p>x</p>', attachments: [attachment] })
    const evil = [...rich.matchAll(/boundary="(.*)"/g)].map(([, boundary]) => `--${boundary}--`).join('\n')
    expect(await readMessage(await compose({ text: evil, html: evil, attachments: [attachment] }))).toMatchObject({
      text: evil.split('\n'),
      html: evil.split('\n'),
      attachments: [{ filename: 'a.txt' }],
    })
  })

  it('refuses a header name that was never checked', () => {
    expect(() => composeMessage({ ...PLAIN, headers: { 'X-A\r\nBcc': 'x' } })).toThrow(/not a header name/)
  })
})
