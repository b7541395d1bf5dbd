import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import nodemailer from 'nodemailer'
import { describe, expect, test } from 'vitest'
import { BodyReader } from '../../src/cli/sink/body-reader.js'
import { type Sink, type SinkOptions } from '../../src/cli/sink/start-sink.js'
import { until } from '../support/until.js'
import {
  closeAfterEach,
  deliver,
  ENVELOPE,
  greetedClient,
  makeDirectory,
  openClient,
  RawClient,
  start,
} from './sink-fixture.js'

closeAfterEach()

describe('it speaks SMTP', () => {
  test('it offers what it can do, and answers every command', async () => {
    const client = await openClient(await start({ maxMessageBytes: 1000 }))
    expect(await client.reply()).toMatch(/^220 sink\.localhost ESMTP/)
    expect((await client.ask('EHLO me')).split('\r\n')).toEqual([
      '250-sink.localhost',
      '250-PIPELINING',
      '250-SIZE 1000',
      '250-8BITMIME',
      '250-SMTPUTF8',
      '250-ENHANCEDSTATUSCODES',
      '250 HELP',
    ])
    for (const [line, code] of [
      ['helo me', '250'],
      ['EHLO', '501'],
      ['NOOP', '250'],
      ['noop with words', '250'],
      ['VRFY somebody', '252'],
      ['HELP', '214'],
      ['WIZARD', '500'],
      ['', '500'],
      ['STARTTLS', '500'],
      ['AUTH PLAIN', '500'],
      ['RCPT TO:<b@example.com>', '503'],
      ['DATA', '503'],
      ['MAIL FROM:a@example.com', '501'],
      ['MAIL FROM:<a@example.com', '501'],
      ['MAIL FROM:<a\u0000@example.com>', '501'],
      ['MAIL FROM:<a@example.com> SIZE=1001', '552'],
      ['MAIL FROM:<a@example.com> SIZE=1000 BODY=8BITMIME SMTPUTF8', '250'],
      ['MAIL FROM:<a@example.com>', '503'],
      ['DATA', '554'],
      ['RCPT TO:<>', '501'],
      ['RCPT TO:<"odd> \\" one"@example.com>', '250'],
      ['DATA now', '501'],
      ['RSET', '250'],
      ['DATA', '503'],
      ['QUIT', '221'],
    ] as const)
      expect(`${line}: ${(await client.ask(line)).slice(0, 3)}`).toBe(`${line}: ${code}`)
    expect(await client.reply()).toBe('fin')
  })

  test('it wants a greeting first', async () => {
    const client = await openClient(await start())
    await client.reply()
    expect(await client.ask('MAIL FROM:<a@example.com>')).toMatch(/^503 5\.5\.1/)
  })

  test('a pipelined conversation of two messages is answered in its order, whole or byte by byte', async () => {
    const sink = await start()
    const session = Buffer.from(
      `EHLO me\r\n${ENVELOPE}Message-ID: <1@x>\r\n\r\n..one\r\n.\r\n` +
        'MAIL FROM:<>\r\nRCPT TO:<ü@exämple.com>\r\nRCPT TO:<c@example.com>\r\nDATA\r\n.\r\nQUIT\r\n',
    )
    for (const size of [session.length, 1]) {
      const client = await openClient(sink)
      for (let at = 0; at < session.length; at += size) {
        client.send(session.subarray(at, at + size))
        await new Promise(setImmediate)
      }
      const codes = []
      for (let answer = await client.reply(); answer !== 'fin'; answer = await client.reply())
        codes.push(answer.slice(0, 3))
      expect(codes.join(' ')).toBe('220 250 250 250 354 250 250 250 250 354 250 221')
    }
    expect(sink.taken().map(({ from, to, message_id, size }) => ({ from, to, message_id, size }))).toEqual(
      [1, 2].flatMap(() => [
        { from: 'a@example.com', to: ['b@example.com'], message_id: '<1@x>', size: 27 },
        { from: '', to: ['ü@exämple.com', 'c@example.com'], message_id: null, size: 0 },
      ]),
    )
  })

  test('a refused line is refused whole: too long, or with a bare LF in it', async () => {
    const client = await greetedClient(await start())
    expect(await client.ask(`NOOP ${'x'.repeat(12_281)}`)).toMatch(/^250/)
    expect(await client.ask(`NOOP ${'x'.repeat(12_282)}`)).toMatch(/^500 5\.5\.2 Line too long/)
    expect(await client.ask(`NOOP ${'x'.repeat(300_000)}`)).toMatch(/^500 5\.5\.2 Line too long/)
    client.send('NOOP\nMAIL FROM:<a@example.com>\nRSET\r\nHELP\r\n')
    expect(await client.reply()).toMatch(/^500 5\.5\.2 .*bare LF/)
    expect(await client.reply()).toMatch(/^214/)
    client.send('NOOP\r')
    await sleep(20)
    client.send('\n')
    expect(await client.reply()).toMatch(/^250/)
  })

  test('a client that sends long before it reads gets every answer', async () => {
    const client = await greetedClient(await start())
    client.socket.pause()
    client.send('NOOP\r\n'.repeat(300_000))
    client.send('QUIT\r\n')
    await sleep(100)
    client.socket.resume()
    await until('it is over', () => client.ended)
    expect(client.received === '250 2.0.0 OK\r\n'.repeat(300_000) + '221 2.0.0 Bye\r\n').toBe(true)
  })

  test('a connection that was dropped is taken from a client that keeps it', async () => {
    const sink = await start({ chaos: 'mail:drop' })
    const socket = connect({ port: sink.port, host: '127.0.0.1', allowHalfOpen: true })
    const client = new RawClient(socket)
    await client.talkUntil('mail')
    await until('it is dropped', () => client.ended)
    expect(sink.counts().open).toBe(1)
    await until('nothing is open', () => sink.counts().open === 0, { withinMs: 5000 })
  })

  test('a message over the limit is refused at its dot, and the next one is taken', async () => {
    const sink = await start({ maxMessageBytes: 1000 })
    const client = await greetedClient(sink)
    expect(await deliver(client, `${'x'.repeat(999)}\r\n`)).toBe('250 250 354 552')
    expect(await deliver(client, `${'x'.repeat(998)}\r\n`)).toBe('250 250 354 250')
    expect(sink.taken()).toMatchObject([{ n: 1, size: 1000 }])
  })

  test('one connection more than allowed gets 421, and a place that became free is given away', async () => {
    const sink = await start({ maxConnections: 1 })
    const first = await greetedClient(sink)
    const second = await openClient(sink)
    expect([await second.code(), await second.reply()]).toEqual(['421', 'fin'])
    await first.ask('QUIT')
    await until('it is gone', () => sink.counts().open === 0)
    expect(await (await openClient(sink)).code()).toBe('220')
  })

  test('closing tells the clients and lets go of those that do not hear', async () => {
    const sink = await start({ chaos: 'mail:hang' })
    const idle = await greetedClient(sink)
    const hung = await greetedClient(sink)
    hung.send(ENVELOPE)
    await until('it hangs', () => sink.counts().faults === 1)
    await sink.close()
    expect([await idle.code(), await idle.reply()]).toEqual(['421', 'fin'])
    expect(['fin', 'reset']).toContain(await hung.reply())
    expect(sink.counts().open).toBe(0)
  })
})

describe('a message ends at CR LF . CR LF and nowhere else', () => {
  /** Reads it in the given pieces; what was content, and what was left after the end. */
  function readBody(pieces: readonly string[]): { content: string; left: string } | null {
    const reader = new BodyReader(1_000_000)
    for (const [index, piece] of pieces.entries()) {
      const bytes = Buffer.from(piece)
      const end = reader.read(bytes, 0)
      if (end === -1) continue
      const left = bytes.toString('utf8', end) + pieces.slice(index + 1).join('')
      expect(reader.size).toBe(reader.content().length)
      return { content: reader.content().toString(), left }
    }
    return null
  }

  test.each([
    ['', ''],
    ['.', '..'],
    ['\r\n', '\r\n'],
    ['one\r\n.\r\ntwo\r\n', 'one\r\n..\r\ntwo\r\n'],
    ['..\r\n...\r\n.a\r\n', '...\r\n....\r\n..a\r\n'],
    ['a\n.\r\nb\r.\r\nc\r\n\r\n', 'a\n.\r\nb\r.\r\nc\r\n\r\n'],
    ['\rdotted\r\n', '.\rdotted\r\n'],
    ['\r\rx\r\n\r\n', '.\r\rx\r\n\r\n'],
    ['\r.\r\n', '.\r.\r\n'],
  ])('%j is read the same at whatever bytes it is torn', (content, stuffed) => {
    const end = stuffed === '' || stuffed.endsWith('\r\n') ? '.\r\n' : '\r\n.\r\n'
    const wire = `${stuffed}${end}MAIL\r\n.\r\n`
    const expected = { content: end === '.\r\n' ? content : `${content}\r\n`, left: 'MAIL\r\n.\r\n' }
    for (let first = 0; first <= wire.length; first++)
      for (let second = first; second <= wire.length; second++)
        expect(readBody([wire.slice(0, first), wire.slice(first, second), wire.slice(second)])).toEqual(expected)
    expect(readBody(Array.from(wire))).toEqual(expected)
  })

  const SMUGGLERS = [
    '\n.\n',
    '\n.\r\n',
    '\r.\r\n',
    '\r\n.\n',
    '\r\n.\r',
    '\r.\r',
    '\n\n.\r\n',
    '\r\n\0.\r\n',
    '\r\n.\r\r\n',
  ]

  test.each(SMUGGLERS)('%j does not end it', async (sequence) => {
    const directory = makeDirectory()
    const sink = await start({ hash: true, keepDirectory: directory })
    const client = await greetedClient(sink)
    const wire = `Subject: outer\r\n\r\nhello${sequence}MAIL FROM:<evil@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\nx\r\n`
    // The dot a server takes from the start of a line is taken from these too; nothing else of them may change.
    const content = wire.replaceAll('\r\n.', '\r\n')
    expect(await deliver(client, wire)).toBe('250 250 354 250')
    expect(await client.ask('NOOP')).toMatch(/^250/)
    expect(sink.taken()).toMatchObject([
      { from: 'a@example.com', subject: 'outer', sha256: createHash('sha256').update(content).digest('hex') },
    ])
    expect(readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8'))).toEqual([content])
  })
})

describe('nodemailer delivers to it', () => {
  const mail = {
    from: 'a@example.com',
    to: ['b@example.com', 'c@example.com'],
    subject: 'Hello, a subject that is long enough to be folded by whoever writes this header into a message',
    text: '.\n..\n.dots\nend',
    messageId: '<fixed@example.com>',
  }
  const login = { user: 'me@example.com', pass: 'secret' }
  const oauth = { type: 'OAuth2' as const, user: login.user, accessToken: login.pass }

  async function send(sink: Sink, options: object): Promise<string> {
    const transport = nodemailer.createTransport({
      host: '127.0.0.1',
      port: sink.port,
      tls: { rejectUnauthorized: false },
      ...options,
    })
    try {
      return (await transport.sendMail(mail)).response
    } catch (error) {
      return (error as NodeJS.ErrnoException).code!
    } finally {
      transport.close()
    }
  }

  test.each<[string, SinkOptions, object]>([
    ['in the clear', {}, {}],
    ['through STARTTLS', { tls: 'starttls' }, { requireTLS: true }],
    ['through TLS', { tls: 'implicit' }, { secure: true }],
    ['after AUTH PLAIN', { auth: login }, { auth: login, authMethod: 'PLAIN' }],
    ['after AUTH LOGIN', { auth: login }, { auth: login, authMethod: 'LOGIN' }],
    ['after AUTH XOAUTH2', { auth: login }, { auth: oauth }],
    ['after AUTH through STARTTLS', { auth: login, tls: 'starttls' }, { auth: login, requireTLS: true }],
    ['slowly, through STARTTLS', { tls: 'starttls', chaos: 'starttls:slow,ehlo:slow,dot:slow' }, { requireTLS: true }],
    ['slowly from the start', { tls: 'implicit', chaos: 'connect:slow,greeting:slow,body:slow' }, { secure: true }],
  ])('%s', async (_, options, transport) => {
    const directory = makeDirectory()
    const sink = await start({ ...options, keepDirectory: directory })
    expect(await send(sink, transport)).toMatch(/^250 2\.0\.0 OK/)
    const { from, to, messageId: message_id, subject } = mail
    expect(sink.taken()).toMatchObject([{ n: 1, connection: 1, from, to, message_id, subject, replied: 'accepted' }])
    const kept = readFileSync(join(directory, readdirSync(directory)[0]!), 'utf8')
    expect(kept.split('\r\n\r\n')[1]).toBe('.\r\n..\r\n.dots\r\nend\r\n')
    await until('the connection is gone', () => sink.counts().open === 0)
  })

  test.each<[string, object, string]>([
    ['a wrong password', { auth: { ...login, pass: 'wrong' }, authMethod: 'PLAIN' }, 'EAUTH'],
    ['a wrong password', { auth: { ...login, pass: 'wrong' }, authMethod: 'LOGIN' }, 'EAUTH'],
    ['a wrong token', { auth: { ...oauth, accessToken: 'wrong' } }, 'EAUTH'],
    ['no password', {}, 'EENVELOPE'],
  ])('but not with %s: %j', async (_, transport, code) => {
    const sink = await start({ auth: login })
    expect(await send(sink, transport)).toBe(code)
    expect(sink.taken()).toEqual([])
  })

  test('and a client that trusts nobody, or speaks no TLS, leaves nothing behind', async () => {
    const sink = await start({ tls: 'implicit' })
    expect(await send(sink, { secure: true, tls: {} })).toMatch(/^E/)
    const client = await openClient(sink)
    client.send(`EHLO me\r\n${ENVELOPE}`)
    await until('it is hung up on', () => client.ended)
    await until('nothing is open', () => sink.counts().open === 0)
    expect(sink.taken()).toEqual([])
  })

  test('what is sent in the clear behind STARTTLS is never obeyed', async () => {
    const sink = await start({ tls: 'starttls' })
    const client = await greetedClient(sink)
    client.send(`STARTTLS\r\nEHLO evil\r\n${ENVELOPE}x\r\n.\r\n`)
    expect(await client.reply()).toMatch(/^220/)
    client.socket.removeAllListeners('data')
    const secure = new RawClient(connectTls({ socket: client.socket, rejectUnauthorized: false }))
    expect(await secure.ask('MAIL FROM:<a@example.com>')).toMatch(/^503/)
    expect(sink.taken()).toEqual([])
  })

  test('an AUTH exchange can be canceled, and nonsense in it is refused', async () => {
    const client = await greetedClient(await start({ auth: login }))
    expect(await client.ask('AUTH LOGIN')).toBe('334 VXNlcm5hbWU6')
    expect(await client.ask('*')).toMatch(/^501 5\.7\.0/)
    expect(await client.ask('AUTH PLAIN me:secret')).toMatch(/^501 5\.5\.2/)
    expect(await client.ask('AUTH CRAM-MD5')).toMatch(/^504/)
    expect(await client.ask('MAIL FROM:<a@example.com>')).toMatch(/^530 5\.7\.0/)
  })
})
