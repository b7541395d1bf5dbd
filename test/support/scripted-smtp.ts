/**
 * An SMTP server on raw sockets that does, at any point of the conversation, what it is told: answer anything, drop,
 * reset, hang, talk nonsense or without end, drip, or close one half. It keeps the exact bytes of every message it took
 * and every line it was told, in order: the judge of what a client really did.
 */
import { createServer, type Server } from 'node:net'

import { Conversation } from './scripted-conversation.js'

export const POINTS = ['greeting', 'ehlo', 'starttls', 'auth', 'mail', 'rcpt', 'data', 'body', 'dot', 'rset'] as const
export type Point = (typeof POINTS)[number]

export type Act =
  | { readonly do: 'reply'; readonly text: string }
  /** Closes the connection with FIN; with `reset`, with RST. */
  | { readonly do: 'drop' | 'reset' }
  /** Says nothing more and reads nothing more. */
  | { readonly do: 'hang' }
  | { readonly do: 'garbage' }
  /** A reply that never ends: megabytes without a line break, or lines that all promise another. */
  | { readonly do: 'oversized'; readonly lines?: boolean }
  /** Bytes one at a time, and nothing or a FIN after the last. */
  | { readonly do: 'drip'; readonly text: string; readonly everyMs: number; readonly thenDrop?: boolean }
  /** Closes its own half and goes on reading. */
  | { readonly do: 'half-close' }

export interface ScriptedOptions {
  readonly extensions?: readonly string[]
  readonly tls?: { readonly key: string; readonly cert: string; readonly implicit?: boolean }
  /** Sent in clear together with the answer to STARTTLS. */
  readonly injectAfterStarttls?: string
  readonly host?: string
}

export interface Taken {
  readonly mail: string
  readonly rcpt: string
  /** As it came over the wire: everything after 354 up to, and without, the final dot's line. */
  readonly raw: Buffer
}

/** What to do at a point; nothing is the ordinary answer. `connection` counts from 1. */
export type Script = (point: Point, line: string, connection: number) => Act | undefined

export class ScriptedSmtp {
  readonly taken: Taken[] = []
  /** Every line of every client, and `<body>` when the first byte of a body arrives. */
  readonly heard: string[] = []
  script: Script = () => undefined
  /** Whether a message is kept when the dot arrives, whatever is answered. */
  takesAtDot = true
  connections = 0
  readonly options: ScriptedOptions
  readonly open = new Set<Conversation>()
  readonly #server: Server
  #waiting: { readonly until: () => boolean; readonly resolve: () => void }[] = []

  constructor(options: ScriptedOptions) {
    this.options = options
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.open.add(new Conversation(this, socket, ++this.connections))
      this.notice()
    })
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, this.options.host ?? '127.0.0.1', resolve))
    return this
  }

  hear(line: string): void {
    this.heard.push(line)
    this.notice()
  }

  notice(): void {
    this.#waiting = this.#waiting.filter(({ until, resolve }) => {
      if (!until()) return true
      resolve()
      return false
    })
  }

  /** When something has been heard, taken or closed. */
  when(until: () => boolean): Promise<void> {
    if (until()) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push({ until, resolve }))
  }

  /** Ends every open connection as an idle timeout or a restart of the server would. */
  dropAll(how: 'drop' | 'reset' = 'drop'): void {
    for (const conversation of this.open) conversation.act({ do: how })
  }

  async close(): Promise<void> {
    for (const conversation of this.open) conversation.destroy()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }
}

export function startScriptedSmtp(options: ScriptedOptions = {}): Promise<ScriptedSmtp> {
  return new ScriptedSmtp(options).listen()
}
