import type { Socket } from 'node:net'

import { type Reply, ReplyReader } from './smtp-reply.js'

/** Who listens to a channel: the transaction that uses it. */
export interface ChannelListener {
  onReply(reply: Reply): void
  /** No reply will come any more; said once. */
  onGone(what: string): void
}

/** What the server offered in its answer to EHLO. */
export interface Extensions {
  readonly pipelining: boolean
  readonly smtpUtf8: boolean
  readonly size: boolean
  /** 0 when it named none. */
  readonly maxMessageBytes: number
}

/** How long a server may take to close its side after QUIT. */
const QUIT_MS = 2_000

/**
 * An open, greeted and authenticated connection: commands go out, whole replies come in. It knows nothing of messages.
 * A server that talks while nobody listens (usually 421 before it closes) has ended the connection.
 */
export class SmtpChannel {
  readonly extensions: Extensions
  /** How many messages were begun on it. */
  served = 0
  listener: ChannelListener | null = null
  readonly #socket: Socket
  readonly #reader = new ReplyReader()
  #gone: string | null = null
  #error: string | null = null
  #onEnd: (() => void) | null = null

  constructor(socket: Socket, extensions: Extensions) {
    this.#socket = socket
    this.extensions = extensions
    socket.on('data', (chunk: Buffer) => this.#onData(chunk))
    socket.on('error', (error) => (this.#error = error.message))
    socket.on('end', () => this.destroy('the server closed the connection'))
    socket.on('close', () => this.destroy(this.#error ?? 'the connection was lost'))
  }

  get isGone(): boolean {
    return this.#gone !== null
  }

  /** Why it ended; null while it is open. */
  get gone(): string | null {
    return this.#gone
  }

  /** True when the server has already begun to say something that nobody has asked for yet. */
  get hasUnread(): boolean {
    return !this.#reader.isEmpty
  }

  /** Told once, whoever ended it. */
  whenEnded(onEnd: () => void): void {
    if (this.#gone === null) this.#onEnd = onEnd
    else onEnd()
  }

  write(text: string): void {
    this.#socket.write(text)
  }

  /** Says when the bytes have been given to the operating system; not at all if the connection is lost first. */
  writeBytes(bytes: Buffer, onWritten: () => void): void {
    this.#socket.write(bytes, (error) => {
      if (!error) onWritten()
    })
  }

  /** Ends it without a word: what was begun is not taken. */
  destroy(what: string): void {
    if (this.#gone !== null) return
    this.#gone = this.#error ?? what
    this.#socket.destroy()
    const { listener } = this
    this.listener = null
    listener?.onGone(this.#gone)
    this.#onEnd?.()
  }

  /** Ends it as one should, between messages. */
  quit(): void {
    if (this.#gone !== null) return
    this.#gone = 'we ended the connection'
    const socket = this.#socket
    const impatience = setTimeout(() => socket.destroy(), QUIT_MS)
    socket.once('close', () => {
      clearTimeout(impatience)
      this.#onEnd?.()
    })
    socket.end('QUIT\r\n')
  }

  #onData(chunk: Buffer): void {
    if (this.#gone !== null) return
    const reader = this.#reader
    reader.push(chunk)
    while (this.#gone === null) {
      const reply = reader.next()
      if (reply === null) break
      if (this.listener === null) return this.destroy(`the server said ${reply.code} unasked`)
      this.listener.onReply(reply)
    }
    if (reader.broken !== null) this.destroy(reader.broken)
  }
}
