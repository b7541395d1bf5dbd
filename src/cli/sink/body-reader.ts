const [CR, LF, DOT] = [13, 10, 46]
const LONE_CR = Buffer.from([CR])

// Where the last byte left us. Only CR LF begins a line: a bare CR or LF is content like any other byte, or two servers
// would disagree on where a message ends and a second one could be smuggled inside the first (CVE-2023-51764).
const IN_LINE = 0
const AFTER_CR = 1
const LINE_START = 2
const AFTER_DOT = 3
const AFTER_DOT_CR = 4

/** Reads the body of one DATA: finds its end, exactly CR LF . CR LF, and takes out the dots the client had to add. */
export class BodyReader {
  readonly #maxBytes: number
  // The CR LF that ended the DATA command counts as the first half of the end: an empty message is a lone dot.
  #state = LINE_START
  #pieces: Buffer[] = []
  #size = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Of what was read so far, without added dots; also when it was too much to keep. */
  get size(): number {
    return this.#size
  }

  get tooLarge(): boolean {
    return this.#size > this.#maxBytes
  }

  content(): Buffer {
    return this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)
  }

  /** Reads on from `start`; the index after the end of the body, or -1 when the end is in none of what came so far. */
  read(chunk: Buffer, start: number): number {
    let state = this.#state
    // What begins here is content that has not been kept yet.
    let from = start
    for (let at = start; at < chunk.length; at++) {
      const byte = chunk[at]
      if (state === IN_LINE) {
        if (byte === CR) state = AFTER_CR
      } else if (state === AFTER_CR) {
        state = byte === LF ? LINE_START : byte === CR ? AFTER_CR : IN_LINE
      } else if (state === LINE_START) {
        if (byte === DOT) {
          this.#keep(chunk, from, at)
          from = at + 1
          state = AFTER_DOT
        } else state = byte === CR ? AFTER_CR : IN_LINE
      } else if (state === AFTER_DOT) {
        state = byte === CR ? AFTER_DOT_CR : IN_LINE
      } else {
        if (byte === LF) return at + 1
        // The CR after the dot was content after all; when it came with the chunk before, only we still have it.
        if (from === at) this.#keep(LONE_CR, 0, 1)
        state = byte === CR ? AFTER_CR : IN_LINE
      }
    }
    // A CR after a dot is either content or half of the end: the next byte tells.
    this.#keep(chunk, from, state === AFTER_DOT_CR ? Math.max(from, chunk.length - 1) : chunk.length)
    this.#state = state
    return -1
  }

  #keep(chunk: Buffer, from: number, to: number): void {
    if (to <= from) return
    this.#size += to - from
    if (this.tooLarge) this.#pieces = []
    else this.#pieces.push(chunk.subarray(from, to))
  }
}
