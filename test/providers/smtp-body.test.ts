import { describe, expect, test } from 'vitest'
import fc from 'fast-check'

import { normalizeLineBreaks, stuffDots } from '../../src/providers/smtp/wire-body.js'
import { closeAfterEach, delivery, providerFor, send, startServer, TestHold } from './smtp-fixture.js'

closeAfterEach()

/** What a receiver keeps: the dots that were doubled are single again. */
function unstuff(raw: Buffer): string {
  return raw.toString('latin1').replace(/(^|\r\n)\./g, '$1')
}

/** Every line break becomes CRLF, and the last line has one. */
function expectedText(body: string): string {
  const lines = body.replace(/\r\n|\r|\n/g, '\r\n')
  return lines.endsWith('\r\n') ? lines : `${lines}\r\n`
}

/** Commands that a receiver would obey if the message ended early. */
const SMUGGLED = 'MAIL FROM:<eve@evil.test>\r\nRCPT TO:<victim@example.com>\r\nDATA\r\nSubject: smuggled\r\n\r\nHa\r\n'

const ENDINGS = [
  '\r\n.\r\n',
  '\n.\n',
  '\n.\r\n',
  '\r\n.\n',
  '\r.\r',
  '\r.\r\n',
  '\r\n.\r',
  '\n.\r',
  '\r.\n',
  '\r\r\n.\r\r\n',
  '\n\r.\n\r',
  '\r\n\r.\r\n',
  '\r\n\0.\r\n',
  '\r\n.\0\r\n',
  '\r\n.\r\n.\r\n',
  '\r\n..\r\n',
  '\n..\n',
  '\r\n.\r\n\r\n.\r\n',
]

describe('SMTP smuggling', () => {
  test.each(ENDINGS.map((ending) => [JSON.stringify(ending), ending]))(
    '%s does not end a message',
    async (_name, ending) => {
      const server = await startServer()
      const body = `Subject: hello\r\n\r\nbefore${ending}${SMUGGLED}.\r\nafter`
      expect(await send(providerFor(server, { body }))).toMatchObject({ kind: 'accepted' })
      expect(server.taken).toHaveLength(1)
      const { raw, mail, rcpt } = server.taken[0]!
      expect([mail, rcpt]).toEqual([
        expect.stringMatching(/^MAIL FROM:<bounce@example.com>/),
        'RCPT TO:<ann@example.com>',
      ])
      // No lone CR or LF is left for a receiver to take for the end of a line, and no line is a single dot.
      expect(raw.toString('latin1')).not.toMatch(/\r(?!\n)|(?<!\r)\n/)
      expect(raw.toString('latin1')).not.toMatch(/(^|\r\n)\.(\r\n|$)/)
      expect(unstuff(raw)).toBe(expectedText(body))
      expect(server.heard.filter((line) => /^(MAIL|RCPT|DATA)/.test(line))).toHaveLength(3)
    },
  )
})

describe('dots', () => {
  test.each(['.', '..', '.\r\n', '.a\r\n.b\r\n', '\r\n.\r\n', 'a\r\n.', '', '\r\n', '...\r\n...', 'a', '\n', '\r'])(
    'come out as they went in: %j',
    async (body) => {
      const server = await startServer()
      expect(await send(providerFor(server, { body }))).toMatchObject({ kind: 'accepted' })
      expect(unstuff(server.taken[0]!.raw)).toBe(expectedText(body))
    },
  )

  test('whatever the body', () => {
    const pieces = fc.array(fc.constantFrom('\r', '\n', '.', '\r\n', 'a', '\0', '\xff', ' '), { maxLength: 40 })
    fc.assert(
      fc.property(pieces, (all) => {
        const body = all.join('')
        const wire = stuffDots(normalizeLineBreaks(Buffer.from(body, 'latin1'))).toString('latin1')
        expect(wire.endsWith('\r\n.\r\n') || wire === '.\r\n').toBe(true)
        const raw = wire.slice(0, -3)
        expect(raw).not.toMatch(/(^|\r\n)\.\r\n/)
        expect(raw).not.toMatch(/\r(?!\n)|(?<!\r)\n/)
        expect(unstuff(Buffer.from(raw, 'latin1'))).toBe(expectedText(body))
      }),
      { numRuns: 3_000 },
    )
  })

  test('a body with nothing to change is not copied before it is stuffed', () => {
    const body = Buffer.from('Subject: x\r\n\r\nhello\r\n')
    expect(normalizeLineBreaks(body)).toBe(body)
  })

  test('in a body of many megabytes', async () => {
    const server = await startServer()
    const body = `Subject: large\r\n\r\n${'.line of text\r\nanother\r\n'.repeat(300_000)}`
    expect(await send(providerFor(server, { body }))).toMatchObject({ kind: 'accepted' })
    expect(unstuff(server.taken[0]!.raw) === body).toBe(true)
  })
})

describe('size', () => {
  test('is announced when the server wants to know', async () => {
    const server = await startServer({ extensions: ['SIZE 1000'] })
    await send(providerFor(server, { body: 'x\r\n.y\r\n' }))
    expect(server.taken[0]!.mail).toBe('MAIL FROM:<bounce@example.com> SIZE=7')
  })

  test('beyond what the server announced is refused without troubling it', async () => {
    const server = await startServer({ extensions: ['SIZE 1000'] })
    const provider = providerFor(server, { body: 'x'.repeat(2_000), settings: { maxConnections: 1 } })
    const hold = new TestHold()
    expect(await send(provider, hold)).toMatchObject({
      kind: 'rejected',
      failure: 'message',
      evidence: { phase: 'mail', code: null, reply: 'the message is 2002 bytes, and the server takes at most 1000' },
    })
    expect(hold.armed).toBe(0)
    expect(server.heard.some((line) => line.startsWith('MAIL'))).toBe(false)
  })
})

describe('addresses', () => {
  test('outside ASCII use SMTPUTF8, and only they do', async () => {
    const server = await startServer({ extensions: ['SMTPUTF8'] })
    const provider = providerFor(server)
    await provider.send(delivery({ recipient: 'jürgen@example.com' }), new TestHold())
    await provider.send(delivery({ recipient: 'ann@bücher.example' }), new TestHold())
    await provider.send(delivery({ returnPath: '' }), new TestHold())
    expect(server.taken.map(({ mail, rcpt }) => [mail, rcpt])).toEqual([
      ['MAIL FROM:<bounce@example.com> SMTPUTF8', 'RCPT TO:<jürgen@example.com>'],
      ['MAIL FROM:<bounce@example.com>', 'RCPT TO:<ann@xn--bcher-kva.example>'],
      ['MAIL FROM:<>', 'RCPT TO:<ann@example.com>'],
    ])
  })

  test('outside ASCII in a header use SMTPUTF8, whoever the email goes to', async () => {
    const server = await startServer({ extensions: ['SMTPUTF8'] })
    for (const body of [
      'From: a@example.com\r\nCc: jürgen@example.com\r\n\r\nHello.\r\n',
      'From: a@example.com\r\nReply-To: jürgen@example.com\r\n\r\nHello.\r\n',
      'From: a@example.com\r\nSubject: =?utf-8?Q?=C3=BC?=\r\n\r\nHello, jürgen@example.com.\r\n',
    ])
      await send(providerFor(server, { body }))
    expect(server.taken.map(({ mail }) => mail)).toEqual([
      'MAIL FROM:<bounce@example.com> SMTPUTF8',
      'MAIL FROM:<bounce@example.com> SMTPUTF8',
      'MAIL FROM:<bounce@example.com>',
    ])
  })

  test('outside ASCII in a header are refused when the server does not know SMTPUTF8', async () => {
    const server = await startServer({ extensions: [] })
    const provider = providerFor(server, { body: 'Reply-To: jürgen@example.com\r\n\r\nHello.\r\n' })
    expect(await send(provider)).toMatchObject({
      kind: 'rejected',
      failure: 'message',
      evidence: {
        phase: 'mail',
        reply:
          'an address in its headers with letters outside ASCII before its @ needs SMTPUTF8, which the server does not offer',
      },
    })
    expect(server.heard.some((line) => line.startsWith('MAIL'))).toBe(false)
    expect(server.taken).toEqual([])
  })

  test('outside ASCII are refused when the server does not know SMTPUTF8', async () => {
    const server = await startServer({ extensions: [] })
    const result = await providerFor(server).send(delivery({ recipient: 'jürgen@example.com' }), new TestHold())
    expect(result).toMatchObject({ kind: 'rejected', failure: 'message', evidence: { phase: 'mail' } })
    expect(server.taken).toEqual([])
  })

  test.each([
    { recipient: 'ann@example.com>\r\nRCPT TO:<eve@evil.test' },
    { recipient: 'ann@example.com> NOTIFY=NEVER' },
    { recipient: 'ann@example.com\nDATA' },
    { recipient: 'ann@example.com\0' },
    { recipient: '' },
    { returnPath: 'a@example.com> SIZE=1\r\nRSET' },
    { returnPath: '<a@example.com>' },
  ])('cannot carry commands: %j', async (changes) => {
    const server = await startServer()
    const result = await providerFor(server).send(delivery(changes), new TestHold())
    expect(result).toMatchObject({ kind: 'rejected', failure: 'message' })
    expect(server.heard.every((line) => /^(EHLO|QUIT)/.test(line))).toBe(true)
  })
})

test('what a server says is kept short and printable', async () => {
  const server = await startServer()
  server.script = (point) =>
    point === 'dot'
      ? { do: 'reply', text: `250 2.0.0 \u001b[31mred\u0007 grün \u202e${'long '.repeat(300)}` }
      : undefined
  const result = await send(providerFor(server))
  if (result.kind !== 'accepted') throw new Error(result.kind)
  expect(result.evidence.reply).toMatch(/^2\.0\.0 {2}\[31mred {2}?grün {1,2}long long/)
  expect(result.evidence.reply.length).toBeLessThanOrEqual(500)
  // oxlint-disable-next-line no-control-regex
  expect(result.evidence.reply).not.toMatch(/[\u0000-\u001f\u202e]/)
})
