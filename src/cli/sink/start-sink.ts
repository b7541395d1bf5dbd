import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createSecureContext } from 'node:tls'
import { type ChaosRule, createDice, type Fault, parseChaos, type Temper } from './chaos.js'
import { Conversation, type House } from './conversation.js'
import type { Credentials } from './credentials.js'
import { openLedger, type Taken } from './ledger.js'
import { REPLIES } from './replies.js'
import { WORTHLESS_TEST_CERTIFICATE, WORTHLESS_TEST_KEY } from './worthless-test-certificate.js'

export interface SinkOptions {
  /** Default 127.0.0.1: a server that takes mail from anybody has no business on a network. */
  readonly host?: string | undefined
  /** Default 0: any free one. */
  readonly port?: number | undefined
  /** A line of JSON, a `Taken`, is appended for each message before its client is answered. */
  readonly logFile?: string | undefined
  /** Each message becomes a file in this directory. */
  readonly keepDirectory?: string | undefined
  /** Whether the SHA-256 of each message is noted. Default false. */
  readonly hash?: boolean | undefined
  /** Default none. `starttls` offers it; `implicit` speaks TLS from the first byte. The certificate is self-signed. */
  readonly tls?: 'starttls' | 'implicit' | undefined
  /** If set, only who has authenticated may send. */
  readonly auth?: Credentials | undefined
  /** Default none. Whoever comes after that gets 421. */
  readonly maxConnections?: number | undefined
  /** What goes wrong, as on the command line: `rcpt:450:0.05,dot:taken-drop:0.01`. Default nothing. */
  readonly chaos?: string | undefined
  /** What goes wrong for some senders and recipients only. */
  readonly temper?: Temper | undefined
  /** The same seed, rules and conversations give the same faults. Default a random one, see `seed` of the sink. */
  readonly seed?: number | undefined
  /** Between two bytes of a slow reply. Default 50. */
  readonly dripMs?: number | undefined
  /** Default 64 MiB: a message is in memory until its dot. */
  readonly maxMessageBytes?: number | undefined
  /** Whether `taken()` lists the messages. Default true; a long run would fill the memory. */
  readonly remember?: boolean | undefined
  /** Called when a message has been written down and its client has not been answered yet. */
  readonly onTaken?: ((taken: Taken) => void) | undefined
  /** Called when the log, or a file to keep, could not be written. The message is refused with 452. */
  readonly onTrouble?: ((error: unknown) => void) | undefined
  readonly onFault?: ((connection: number, fault: Fault) => void) | undefined
}

export interface SinkCounts {
  readonly messages: number
  readonly connections: number
  /** Those open now. */
  readonly open: number
  readonly faults: number
}

export interface Sink {
  readonly host: string
  readonly port: number
  readonly seed: number
  readonly rules: readonly ChaosRule[]
  taken(): readonly Taken[]
  counts(): SinkCounts
  /** Lets go of the port at once, tells the clients, and gives them a moment to hear it. */
  close(): Promise<void>
}

/** How long clients have to hang up when the sink closes. */
const GOODBYE_MS = 300

/** A test SMTP server that takes everything, writes down what it took, and misbehaves on request. */
export async function startSink(options: SinkOptions = {}): Promise<Sink> {
  const rules = parseChaos(options.chaos ?? '')
  const seed = options.seed ?? randomInt(2 ** 31)
  const ledger = openLedger({ ...options, remember: options.remember ?? true })
  let connections = 0
  let faults = 0
  const open = new Map<Socket, Conversation | null>()

  const house: House = {
    take(arrived) {
      let taken: Taken
      try {
        taken = ledger.take(arrived)
      } catch (error) {
        options.onTrouble?.(error)
        return false
      }
      options.onTaken?.(taken)
      return true
    },
    tls: options.tls
      ? {
          mode: options.tls,
          context: createSecureContext({ key: WORTHLESS_TEST_KEY, cert: WORTHLESS_TEST_CERTIFICATE }),
        }
      : null,
    auth: options.auth ?? null,
    temper: options.temper ?? null,
    maxMessageBytes: options.maxMessageBytes ?? 64 * 1024 * 1024,
    dripMs: options.dripMs ?? 50,
    onFault(connection, fault) {
      faults++
      options.onFault?.(connection, fault)
    },
  }

  const server = createServer({ noDelay: true }, (socket) => {
    const id = ++connections
    const conversation =
      open.size < (options.maxConnections ?? Infinity)
        ? new Conversation(socket, id, house, createDice(rules, seed, id))
        : null
    open.set(socket, conversation)
    socket.once('close', () => open.delete(socket))
    if (conversation) return conversation.start()
    socket.on('error', () => undefined)
    socket.end(REPLIES.tooManyConnections)
    socket.resume()
  })

  try {
    server.listen({ host: options.host ?? '127.0.0.1', port: options.port ?? 0, backlog: 4096 })
    await once(server, 'listening')
  } catch (error) {
    ledger.close()
    throw error
  }
  const { address, port } = server.address() as AddressInfo

  let closing: Promise<void> | null = null
  async function close(): Promise<void> {
    server.close()
    // A server counts itself closed a moment before its last connection does.
    const gone = [server, ...open.keys()].map((one) => new Promise((resolve) => one.once('close', resolve)))
    for (const [socket, conversation] of open) {
      if (conversation) conversation.close()
      else socket.destroy()
    }
    const impatience = setTimeout(() => {
      for (const socket of open.keys()) socket.destroy()
    }, GOODBYE_MS)
    await Promise.all(gone)
    clearTimeout(impatience)
    ledger.close()
  }

  return {
    host: address,
    port,
    seed,
    rules,
    taken: ledger.taken,
    counts: () => ({ messages: ledger.count, connections, open: open.size, faults }),
    close: () => (closing ??= close()),
  }
}
