import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import nodemailer from 'nodemailer'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { BodyReader } from '../../src/cli/sink/body-reader.js'
import { createDice, parseChaos, PHASES, type Phase } from '../../src/cli/sink/chaos.js'
import type { Taken } from '../../src/cli/sink/ledger.js'
import { type Sink, type SinkOptions, startSink } from '../../src/cli/sink/start-sink.js'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { until } from '../support/until.js'
import { type Cli, type CliProcess, openCli } from './run-cli.js'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function start(options: SinkOptions = {}): Promise<Sink> {
  const sink = await startSink({ dripMs: 2, ...options })
  closers.push(() => sink.close())
  return sink
}

function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'postrider-sink-'))
  closers.push(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

const readLog = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Taken)

/** A client that knows nothing of SMTP but where a reply ends: what it sends is what the test says, byte by byte. */
class RawClient {
  received = ''
  /** In how many pieces the answer to the last thing said by `talkUntil` came. */
  pieces = 0
  /** How the connection ended, once it has. */
  ended: 'fin' | 'reset' | null = null
  readonly socket: Socket

  constructor(socket: Socket) {
    this.socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => {
      this.pieces++
      this.received += chunk.toString('latin1')
    })
    socket.on('end', () => (this.ended ??= 'fin'))
    socket.on('error', () => (this.ended ??= 'reset'))
    closers.push(() => socket.destroy())
  }

  /** The next whole reply, taken off what was received; what became of the connection when none comes any more. */
  async reply(withinMs = 10_000): Promise<string> {
    const find = () => /^(?:\d{3}-[^\r\n]*\r\n)*(?!\d{3}-)[^\r\n]*\r\n/.exec(this.received)?.[0] ?? this.ended
    const reply = await until('a reply', find, { withinMs, everyMs: 1 })
    if (reply.endsWith('\n')) this.received = this.received.slice(reply.length)
    return reply.trimEnd()
  }

  async code(): Promise<string> {
    return (await this.reply()).slice(0, 3)
  }

  send(text: string | Buffer): void {
    this.socket.write(text)
  }

  async ask(line: string): Promise<string> {
    this.send(`${line}\r\n`)
    return this.reply()
  }

  /** As far as just before the sink can answer in this phase. */
  async talkUntil(phase: Phase): Promise<void> {
    const lines: [Phase, string][] = [
      ['ehlo', 'EHLO client.example'],
      ['mail', 'MAIL FROM:<a@example.com>'],
      ['rcpt', 'RCPT TO:<b@example.com>'],
      ['data', 'DATA'],
    ]
    if (phase === 'connect' || phase === 'greeting') return
    await this.reply()
    for (const [asks, line] of lines) {
      if (asks === phase || (asks === 'mail' && (phase === 'starttls' || phase === 'auth'))) break
      await this.ask(line)
    }
    this.pieces = 0
    if (phase === 'starttls') this.send('STARTTLS\r\n')
    else if (phase === 'auth') this.send(`AUTH PLAIN ${Buffer.from('\0me\0secret').toString('base64')}\r\n`)
    else if (phase === 'body') this.send('Subject: half')
    else if (phase === 'dot') this.send('Message-ID: <1@example.com>\r\n\r\nhello\r\n.\r\n')
    else this.send(`${lines.find(([asks]) => asks === phase)![1]}\r\n`)
  }
}

const openClient = async (sink: { port: number }) => new RawClient(connect(sink.port, '127.0.0.1'))

async function greetedClient(sink: { port: number }): Promise<RawClient> {
  const client = await openClient(sink)
  await client.reply()
  await client.ask('EHLO client.example')
  return client
}

const ENVELOPE = 'MAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\n'

/** Sends one whole message on a greeted connection and returns the codes of its four replies. */
async function deliver(client: RawClient, content = 'Message-ID: <1@x>\r\n\r\nhello\r\n'): Promise<string> {
  client.send(ENVELOPE)
  const codes = [await client.code(), await client.code(), await client.code()]
  if (codes[2] === '354') {
    client.send(`${content}.\r\n`)
    codes.push(await client.code())
  }
  return codes.join(' ')
}

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

describe('the log', () => {
  test('has the message before its client is answered', async () => {
    const logFile = join(makeDirectory(), 'log')
    const seen: unknown[] = []
    const sink = await start({
      logFile,
      onTaken: (taken) => seen.push({ lines: readLog(logFile).length, taken, answered: client.received }),
    })
    const client = await greetedClient(sink)
    for (let n = 1; n <= 3; n++) {
      expect(await deliver(client)).toBe('250 250 354 250')
      expect(readLog(logFile)).toHaveLength(n)
      expect(seen[n - 1]).toEqual({ lines: n, taken: readLog(logFile)[n - 1], answered: '' })
    }
  })

  test('is added to, and says what a test needs to judge by', async () => {
    const logFile = join(makeDirectory(), 'log')
    for (const run of [1, 2]) {
      const client = await greetedClient(await start({ logFile, remember: false }))
      await deliver(client, `subject: run\r\n ${run}\r\nMESSAGE-ID:\r\n <${run}@x>\r\n\r\nMessage-ID: <no@x>\r\n`)
      expect(await deliver(client, '\r\nSubject: only text\r\n\r\n')).toBe('250 250 354 250')
    }
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string
    const same = { at, connection: 1, from: 'a@example.com', to: ['b@example.com'], replied: 'accepted' }
    expect(readLog(logFile)).toEqual(
      [1, 2].flatMap((run) => [
        { ...same, n: 1, message_id: `<${run}@x>`, subject: `run ${run}`, size: 61 },
        { ...same, n: 2, message_id: null, subject: null, size: 24 },
      ]),
    )
  })

  test('that cannot be written means that nothing is taken', async () => {
    const troubles: unknown[] = []
    const sink = await start({ logFile: '/dev/full', onTrouble: (error) => troubles.push(error) })
    const client = await greetedClient(sink)
    expect(await deliver(client)).toBe('250 250 354 452')
    expect([sink.taken(), sink.counts().messages]).toEqual([[], 0])
    expect(troubles).toMatchObject([{ code: 'ENOSPC' }])
  })
})

describe('chaos', () => {
  /** What a client meets in the phase: a code, how the connection ended, or how it did not. */
  async function observe(phase: Phase, fault: string, tls: 'starttls' | 'implicit' = 'starttls'): Promise<string> {
    const sink = await start({ chaos: `${phase}:${fault}`, tls, auth: { user: 'me', pass: 'secret' } })
    // Where it is not the subject, AUTH would only be in the way.
    const plain = phase === 'auth' ? sink : await start({ chaos: `${phase}:${fault}`, tls })
    const client = new RawClient(
      tls === 'implicit'
        ? connectTls({ port: plain.port, host: '127.0.0.1', rejectUnauthorized: false })
        : connect(plain.port, '127.0.0.1'),
    )
    await client.talkUntil(phase)
    await until('the fault', () => plain.counts().faults === 1)
    if (fault.endsWith('hang')) {
      await sleep(30)
      return client.received === '' && client.ended === null ? 'hangs' : 'does not hang'
    }
    if (fault === 'slow') {
      if (phase === 'body') client.send('\r\n.\r\n')
      const code = await client.code()
      return client.pieces > 5 ? `drips ${code}` : code
    }
    const reply = await client.reply()
    if (reply === 'fin' || reply === 'reset') return reply
    if (!/^\d{3} /.test(reply)) return 'garbage'
    const code = /^\d{3} \d\.\d\.\d+/.exec(reply)![0]
    return fault === '421' ? `${code}, ${await client.reply()}` : code
  }

  const NORMAL: Record<Phase, string> = {
    connect: '220',
    greeting: 'drips 220',
    ehlo: 'drips 250',
    starttls: 'drips 220',
    auth: 'drips 235',
    mail: 'drips 250',
    rcpt: 'drips 250',
    data: 'drips 354',
    body: '250',
    dot: 'drips 250',
  }

  test.each(PHASES)('in the phase %s, every fault is what the client meets', async (phase) => {
    expect({
      451: await observe(phase, '451'),
      421: await observe(phase, '421'),
      drop: await observe(phase, 'drop'),
      reset: await observe(phase, 'reset'),
      hang: await observe(phase, 'hang'),
      garbage: await observe(phase, 'garbage'),
      slow: await observe(phase, 'slow'),
    }).toEqual({
      451: '451 4.3.0',
      421: '421 4.3.2, fin',
      drop: 'fin',
      reset: 'reset',
      hang: 'hangs',
      garbage: 'garbage',
      slow: NORMAL[phase],
    })
  })

  test('under TLS a drop is a drop and a reset a reset', async () => {
    expect(await observe('rcpt', 'drop', 'implicit')).toBe('fin')
    expect(await observe('rcpt', 'reset', 'implicit')).toBe('reset')
  })

  test('550 says of a recipient that there is none, and of a message that it is not wanted', async () => {
    expect([await observe('rcpt', '550'), await observe('dot', '550')]).toEqual(['550 5.1.1', '550 5.7.1'])
    expect([await observe('auth', '535'), await observe('mail', '499')]).toEqual(['535 5.7.8', '499 4.0.0'])
  })

  test.each([
    ['taken-drop', 'fin', 'dropped_after_dot'],
    ['taken-reset', 'reset', 'reset_after_dot'],
    ['taken-hang', 'hangs', 'hung_after_dot'],
    ['taken-garbage', 'garbage', 'garbage_after_dot'],
    ['slow', 'drips 250', 'accepted'],
    ['lost-drop', 'fin', null],
    ['drop', 'fin', null],
    ['reset', 'reset', null],
    ['hang', 'hangs', null],
    ['garbage', 'garbage', null],
    ['421', '421 4.3.2, fin', null],
    ['550', '550 5.7.1', null],
  ])('after the dot, %s: the client meets %s, the log says %s', async (fault, met, replied) => {
    expect(await observe('dot', fault)).toBe(met)
    const logFile = join(makeDirectory(), 'log')
    const client = await openClient(await start({ logFile, chaos: `dot:${fault}` }))
    await client.talkUntil('dot')
    if (met === 'hangs') await until('it is taken or lost', () => sleep(30, true))
    else await client.reply()
    expect(readLog(logFile)).toMatchObject(replied ? [{ message_id: '<1@example.com>', replied }] : [])
  })

  test('a body refused half way is read to its end, and answered once', async () => {
    const sink = await start({ chaos: 'body:452' })
    const client = await greetedClient(sink)
    client.send(`${ENVELOPE}half`)
    expect([await client.code(), await client.code(), await client.code(), await client.code()].join(' ')).toBe(
      '250 250 354 452',
    )
    client.send(' and half\r\n.\r\nNOOP\r\n')
    expect(await client.reply()).toBe('250 2.0.0 OK')
    expect(sink.taken()).toEqual([])
  })

  test('what was pipelined behind a slow reply waits for it and is obeyed', async () => {
    const sink = await start({ chaos: 'mail:slow,data:slow' })
    const client = await greetedClient(sink)
    client.send(`${ENVELOPE}x\r\n.\r\nQUIT\r\n`)
    for (const code of ['250', '250', '354', '250', '221']) expect(await client.code()).toBe(code)
    expect(sink.taken()).toHaveLength(1)
  })

  test('the same seed gives every connection the same faults, however they interleave', async () => {
    const run = async (seed: number, together: boolean) => {
      const sink = await start({ seed, chaos: 'rcpt:450:0.3,dot:550:0.2,dot:451:0.2' })
      const outcomes = async (client: RawClient) => {
        const codes: string[] = []
        for (let n = 0; n < 20; n++) {
          codes.push(await deliver(client))
          await client.ask('RSET')
        }
        return codes
      }
      const clients: RawClient[] = []
      for (let n = 0; n < 4; n++) clients.push(await greetedClient(sink))
      if (together) return Promise.all(clients.map(outcomes))
      const all: string[][] = []
      for (const client of clients.toReversed()) all.unshift(await outcomes(client))
      return all
    }
    const first = await run(7, true)
    expect(await run(7, false)).toEqual(first)
    expect(await run(8, true)).not.toEqual(first)
    expect(new Set(first.map((codes) => codes.join())).size).toBe(4)
    expect(new Set(first.flat())).toEqual(
      new Set(['250 250 354 250', '250 250 354 550', '250 250 354 451', '250 450 554']),
    )
  })

  test('a probability is met over many connections', () => {
    const rules = parseChaos('mail:451:0.05, rcpt:drop:0 , dot:lost-drop')
    for (const seed of [1, 2, 3]) {
      const hits = { mail: 0, rcpt: 0, dot: 0 }
      for (let connection = 1; connection <= 20_000; connection++) {
        const dice = createDice(rules, seed, connection)
        for (const phase of ['mail', 'rcpt', 'dot'] as const) if (dice(phase)) hits[phase]++
      }
      expect(hits).toMatchObject({ rcpt: 0, dot: 20_000 })
      // Four standard deviations, and the seeds are fixed.
      expect(Math.abs(hits.mail - 1000)).toBeLessThan(125)
    }
  })

  test.each([
    ['rcp:450', '"rcp" is no phase. Did you mean "rcpt"?'],
    ['nowhere:450', 'There are connect, greeting, ehlo,'],
    ['dot:taken-dorp', 'Did you mean "taken-drop"?'],
    ['mail:rest', 'Did you mean "reset"?'],
    ['mail:explode', 'There are drop, reset, hang, garbage, slow, a reply code such as 451.'],
    ['mail:constructor', '"constructor" is no fault.'],
    ['mail:taken-drop', '"taken-drop" exists only after the dot, as dot:taken-drop.'],
    ['mail', 'it needs a fault, as in mail:451'],
    ['mail:250', 'from 400 to 599, not 250'],
    ['mail:451:2', '"2" is no probability; it is a number from 0 to 1.'],
    ['mail:451:', '"" is no probability'],
    ['mail:451:often', '"often" is no probability'],
    ['mail:451:0.1:0.2', 'more than phase:fault:probability'],
    ['mail:451,rcpt:slwo', '"rcpt:slwo" is no chaos rule'],
  ])('%s is refused with a sentence', (text, said) => {
    expect(() => parseChaos(text)).toThrow(said)
  })
})

describe('postrider sink', () => {
  let built: BuiltPackage
  let cli: Cli
  beforeAll(async () => {
    built = await buildPackage()
    cli = openCli(built)
  })
  afterAll(async () => {
    await cli.close()
    built.remove()
  })

  const untilListening = (started: CliProcess) =>
    until('it listens', () => {
      const port = /(?:listening on 127\.0\.0\.1:|"listening","port":)(\d+)/.exec(started.stdout())?.[1]
      return port ? { port: Number(port) } : null
    })

  test.each(['SIGTERM', 'SIGINT'] as const)('says where it listens, what it took, and stops on %s', async (signal) => {
    const started = cli.start(['sink', '--port', '0', '--chaos', 'rcpt:450:0', '--chaos', 'dot:550:0', '--seed', '5'])
    const client = await greetedClient(await untilListening(started))
    await deliver(client, 'Subject: a\u0007b\r\n\r\n')
    await deliver(client, 'x\r\n')
    started.signal(signal)
    expect(await started.exited).toBe(0)
    expect(started.stdout().split('\n').slice(1)).toEqual([
      'chaos with seed 5',
      '1  a@example.com to b@example.com  16 bytes  a?b',
      '2  a@example.com to b@example.com  3 bytes',
      '2 messages from 1 connections, 0 faults',
      '',
    ])
    expect(started.stderr()).toBe('')
  })

  test('--json prints events, and --auth and --tls are offered', async () => {
    const args = ['--tls', '--auth', 'me:sec:ret', '--chaos', 'ehlo:451:0,dot:taken-drop', '--json', '--seed', '3']
    const started = cli.start(['sink', '--port', '0', ...args])
    const client = await openClient(await untilListening(started))
    await client.reply()
    expect(await client.ask('EHLO me')).toContain('250-STARTTLS\r\n250-AUTH PLAIN LOGIN XOAUTH2\r\n')
    expect(await client.ask(`AUTH PLAIN ${Buffer.from('\0me\0sec:ret').toString('base64')}`)).toMatch(/^235/)
    expect(await deliver(client)).toBe('250 250 354 fin')
    started.signal('SIGTERM')
    expect(await started.exited).toBe(0)
    const lines = started.stdout().trim().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { event: 'listening', port: expect.any(Number) as number, host: '127.0.0.1', seed: 3 },
      { event: 'fault', connection: 1, phase: 'dot', fault: 'taken-drop' },
      { event: 'taken', n: 1, message_id: '<1@x>', replied: 'dropped_after_dot' },
      { event: 'stopped', messages: 1, connections: 1, open: 0, faults: 1 },
    ])
  })

  test('every 250 a client has seen is in the log, also when the sink is killed', async () => {
    const started = cli.start(['sink', '--port', '0', '--log', 'log', '--hash', '--keep', 'kept', '--quiet'])
    const client = await greetedClient(await untilListening(started))
    const logFile = join(cli.directory, 'log')
    for (let n = 1; n <= 50; n++) {
      expect(await deliver(client, `Message-ID: <${n}@x>\r\n\r\n`)).toBe('250 250 354 250')
      expect(readLog(logFile)).toHaveLength(n)
    }
    started.signal('SIGKILL')
    expect(await started.exited).toBe('SIGKILL')
    expect(readLog(logFile).map(({ message_id }) => message_id)).toEqual(
      Array.from({ length: 50 }, (_, index) => `<${index + 1}@x>`),
    )
    expect(readdirSync(join(cli.directory, 'kept'))).toHaveLength(50)
    expect(started.stdout().trim().split('\n')).toHaveLength(1)
  })

  test('--duration stops it by itself', async () => {
    const { code, stdout } = await cli.run(['sink', '--port', '0', '--duration', '100ms'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^sink listening on 127\.0\.0\.1:\d+\n0 messages from 0 connections, 0 faults\n$/)
  })

  test.each([
    [['--chaos', 'do:drop'], '--chaos: "do:drop" is no chaos rule: "do" is no phase. Did you mean "dot"?'],
    [['--port', 'smtp'], '--port is "smtp"; it must be a whole number from 0 to 65535.'],
    [['--max-connections', '0'], '--max-connections is "0"'],
    [['--seed', '1.5'], '--seed is "1.5"'],
    [['--duration', 'ever'], '--duration is "ever"; it must be a duration such as 30s'],
    [['--duration', '30d'], '--duration is "30d"'],
    [['--tls', 'startls'], 'did you mean "starttls"?'],
    [['--auth', 'hunter2'], '--auth must be written as user:pass.'],
    [['--log', '/no/such/directory/log'], '--log is "/no/such/directory/log"; it cannot be written: ENOENT'],
    [['--host', '192.0.2.1'], '--host is "192.0.2.1"'],
    [['--choas', 'dot:drop'], '--chaos'],
  ])('%j is a mistake: one sentence and exit code 2', async (args, said) => {
    const { code, stdout, stderr } = await cli.run(['sink', '--port', '0', ...args])
    expect(stderr).toContain(said)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).not.toContain('hunter2')
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  test('a port that is taken is said so', async () => {
    const { port } = await start()
    const { code, stderr } = await cli.run(['sink', '--port', String(port)])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `postrider: --port is "${port}"; another program listens there. 0 takes any free one.\n`,
    })
  })
})
