import type { Socket } from 'node:net'

const DOT = Buffer.from('\r\n.\r\n')

/** The judge's side of one connection: lines and messages, in the order they came, and null when there are no more. */
export class Wire {
  readonly #socket: Socket
  #input: Buffer = Buffer.alloc(0)
  #isOver = false
  #rouse: (() => void) | null = null

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => {
      if (this.#isOver) return
      this.#input = this.#input.length === 0 ? chunk : Buffer.concat([this.#input, chunk])
      this.#rouse?.()
    })
    // A client that was killed resets its connections; that is what this suite is about.
    socket.on('error', () => undefined)
    socket.on('close', () => this.#finish())
    socket.on('end', () => this.#finish())
  }

  async line(): Promise<string | null> {
    for (;;) {
      const end = this.#input.indexOf('\r\n')
      if (end !== -1) return this.#take(end, end + 2).toString('utf8')
      if (!(await this.#more())) return null
    }
  }

  /** Whether the message has begun, when it has or never will. */
  async begun(): Promise<boolean> {
    while (this.#input.length === 0) if (!(await this.#more())) return false
    return true
  }

  /** All up to the final dot, as it came. */
  async message(): Promise<Buffer | null> {
    for (let from = 0; ;) {
      const end = this.#input.indexOf(DOT, from)
      if (end !== -1) return this.#take(end + 2, end + DOT.length)
      from = Math.max(0, this.#input.length - DOT.length)
      if (!(await this.#more())) return null
    }
  }

  say(text: string): void {
    if (this.#socket.writable) this.#socket.write(`${text}\r\n`)
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** FIN; whatever still comes is not heard. */
  end(): void {
    this.#deafen()
    this.#socket.end()
  }

  reset(): void {
    this.#deafen()
    this.#socket.resetAndDestroy()
  }

  #take(length: number, consumed: number): Buffer {
    const taken = this.#input.subarray(0, length)
    this.#input = this.#input.subarray(consumed)
    return taken
  }

  #deafen(): void {
    this.#input = Buffer.alloc(0)
    this.#finish()
  }

  #finish(): void {
    this.#isOver = true
    this.#rouse?.()
  }

  /** False when nothing more can come. */
  async #more(): Promise<boolean> {
    const had = this.#input.length
    if (!this.#isOver) await new Promise<void>((resolve) => (this.#rouse = resolve))
    this.#rouse = null
    return this.#input.length > had
  }
}
