import type { Socket } from 'node:net'

/** How long a client has to hang up after we did, before the connection is taken from it. */
const LINGER_MS = 2000

/**
 * The sink's side of one connection: what it says, and how it stops talking. Replies are gathered and written at once
 * when all that has arrived is answered, so that pipelined commands cost one write and not one each.
 */
export class Wire {
  /** Below any TLS: what can be reset. */
  readonly #raw: Socket
  #socket: Socket
  readonly #dripMs: number
  #out = ''
  #talking = true
  #held = false
  #timer: NodeJS.Timeout | undefined
  readonly #onReady: () => void

  /** `onReady` is called when input may be read again after it had to wait. */
  constructor(socket: Socket, dripMs: number, onReady: () => void) {
    this.#raw = socket
    this.#socket = socket
    this.#dripMs = dripMs
    this.#onReady = onReady
    socket.once('close', () => clearTimeout(this.#timer))
  }

  /** False when input must be left where it is: the conversation is over, or an answer is still on its way. */
  get listening(): boolean {
    return this.#talking && !this.#held
  }

  /** False when the conversation is over, also when the connection still is not. */
  get talking(): boolean {
    return this.#talking
  }

  /** From now on through TLS. */
  wrap(socket: Socket): void {
    this.#socket = socket
  }

  say(text: string): void {
    this.#out += text
  }

  flush(): void {
    if (this.#out === '') return
    const out = this.#out
    this.#out = ''
    if (this.#socket.write(out, 'latin1') || !this.listening) return
    // A client that sends and never reads would otherwise fill our memory with replies.
    this.#hold()
    this.#socket.once('drain', () => this.#release())
  }

  /** Says it one byte at a time; what the client sends meanwhile waits. */
  drip(text: string): void {
    this.flush()
    this.#hold()
    let at = 0
    const next = () => {
      this.#socket.write(text[at++]!, 'latin1')
      if (at < text.length) this.#timer = setTimeout(next, this.#dripMs)
      else this.#release()
    }
    next()
  }

  /** Does nothing for the time of so many dripped bytes. */
  dawdle(bytes: number): void {
    this.flush()
    this.#hold()
    this.#timer = setTimeout(() => this.#release(), bytes * this.#dripMs)
  }

  /** Sends what is left, then FIN. */
  end(): void {
    this.flush()
    this.#talking = false
    this.#socket.end()
    // What still arrives is read and forgotten: left unread, it would turn the FIN into a reset.
    this.#socket.resume()
    clearTimeout(this.#timer)
    if (!this.#raw.destroyed) this.#timer = setTimeout(() => this.#raw.destroy(), LINGER_MS)
  }

  /** RST: the client's unread replies are lost to it as well. */
  reset(): void {
    this.#talking = false
    this.#raw.resetAndDestroy()
  }

  /** Stays connected and never says anything again. */
  hang(): void {
    this.flush()
    this.#talking = false
  }

  #hold(): void {
    this.#held = true
    this.#socket.pause()
  }

  #release(): void {
    this.#held = false
    if (this.#socket.destroyed) return
    this.#onReady()
    if (!this.#held) this.#socket.resume()
  }
}
