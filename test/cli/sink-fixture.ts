import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import type { Phase } from '../../src/cli/sink/chaos.js'
import type { Taken } from '../../src/cli/sink/ledger.js'
import { type Sink, type SinkOptions, startSink } from '../../src/cli/sink/start-sink.js'
import { until } from '../support/until.js'

/** What a test has opened. */
export const closers: (() => unknown)[] = []

/** For every file that opens something here. */
export const closeAfterEach = () =>
  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close()
  })

export async function start(options: SinkOptions = {}): Promise<Sink> {
  const sink = await startSink({ dripMs: 2, ...options })
  closers.push(() => sink.close())
  return sink
}

export function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'postrider-sink-'))
  closers.push(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export const readLog = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Taken)

/** A client that knows nothing of SMTP but where a reply ends: what it sends is what the test says, byte by byte. */
export class RawClient {
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

export const openClient = async (sink: { port: number }) => new RawClient(connect(sink.port, '127.0.0.1'))

export async function greetedClient(sink: { port: number }): Promise<RawClient> {
  const client = await openClient(sink)
  await client.reply()
  await client.ask('EHLO client.example')
  return client
}

export const ENVELOPE = 'MAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\n'

/** Sends one whole message on a greeted connection and returns the codes of its four replies. */
export async function deliver(client: RawClient, content = 'Message-ID: <1@x>\r\n\r\nhello\r\n'): Promise<string> {
  client.send(ENVELOPE)
  const codes = [await client.code(), await client.code(), await client.code()]
  if (codes[2] === '354') {
    client.send(`${content}.\r\n`)
    codes.push(await client.code())
  }
  return codes.join(' ')
}
