/**
 * Cuts what a client sends into units that can run without a break: everything up to a Sync, a Flush or a simple Query.
 * A shorter unit would let the Parse of one connection meet the Bind of another in the session they share.
 *
 * Bytes are looked at once and copied at most once, however they were split on the way: a statement with a 200 KB
 * parameter arrives in many chunks.
 */

export type ClientEvent =
  | { readonly kind: 'startup'; readonly code: number }
  | { readonly kind: 'unit'; readonly bytes: Buffer }
  | { readonly kind: 'terminate' }

/** The client does not speak the protocol, or asks for something this server refuses: its connection is closed. */
export class ProtocolViolation extends Error {}

/** More than any sane statement, less than what would exhaust the memory of the thread. */
const LARGEST_UNIT = 256 * 1024 * 1024
const LARGEST_STARTUP = 10_000

export const PROTOCOL_MAJOR = 3

/** Types the backend survives. On an unknown one it ends, and it is the only backend there is. */
const KNOWN = new Set(Buffer.from('PBDECQSHXdcf'))
const [EXECUTE, QUERY, SYNC, FLUSH, TERMINATE] = Buffer.from('EQSHX') as unknown as [
  number,
  number,
  number,
  number,
  number,
]

/**
 * Sent after everything that could start a COPY FROM STDIN. A backend in COPY reads on for data, finds the end of the
 * unit instead, and ends itself; PGlite cannot wait for more in the middle of a call. With this message the COPY
 * fails with an error the client can read, and anywhere else the backend ignores it.
 */
const COPY_FAIL = copyFail('COPY FROM STDIN is not available on the embedded database; use INSERT, or set DATABASE_URL')

export class MessageCutter {
  #startup = true
  #header = Buffer.alloc(8)
  #headerFilled = 0
  #bodyLeft = 0
  #pieces: Buffer[] = []
  #size = 0

  push(chunk: Buffer): ClientEvent[] {
    const events: ClientEvent[] = []
    let at = 0
    let unitStart = 0
    const keep = (until: number) => {
      if (until > unitStart) this.#pieces.push(chunk.subarray(unitStart, until))
      unitStart = until
    }

    while (at < chunk.length) {
      const headerSize = this.#startup ? 8 : 5
      if (this.#headerFilled < headerSize) {
        const taken = chunk.copy(this.#header, this.#headerFilled, at, at + headerSize - this.#headerFilled)
        this.#headerFilled += taken
        at += taken
        if (this.#headerFilled < headerSize) break
        this.#bodyLeft = this.#startup ? this.#startupBody() : this.#messageBody()
      }
      const taken = Math.min(this.#bodyLeft, chunk.length - at)
      at += taken
      this.#bodyLeft -= taken
      if (this.#bodyLeft > 0) break

      this.#headerFilled = 0
      if (this.#startup) {
        unitStart = at
        this.#pieces = []
        this.#size = 0
        const code = this.#header.readInt32BE(4)
        // Requests for encryption or cancellation come before the real startup; from that one on messages carry a type.
        this.#startup = code >> 16 !== PROTOCOL_MAJOR
        events.push({ kind: 'startup', code })
        continue
      }
      const type = this.#header[0]
      if (type === TERMINATE) {
        events.push({ kind: 'terminate' })
        return events
      }
      if (type === EXECUTE || type === QUERY) {
        keep(at)
        this.#pieces.push(COPY_FAIL)
      }
      if (type === QUERY || type === SYNC || type === FLUSH) {
        keep(at)
        events.push({ kind: 'unit', bytes: this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces) })
        this.#pieces = []
        this.#size = 0
      }
    }
    keep(chunk.length)
    return events
  }

  #startupBody(): number {
    const length = this.#header.readInt32BE(0)
    if (length < 8 || length > LARGEST_STARTUP) throw new ProtocolViolation('invalid length of startup packet')
    return length - 8
  }

  #messageBody(): number {
    const type = this.#header[0]!
    if (!KNOWN.has(type)) throw new ProtocolViolation(`invalid frontend message type ${type}`)
    const length = this.#header.readInt32BE(1)
    if (length < 4) throw new ProtocolViolation('invalid message length')
    this.#size += length + 1
    if (this.#size > LARGEST_UNIT) throw new ProtocolViolation(`statement longer than ${LARGEST_UNIT} bytes`)
    return length - 4
  }
}

function copyFail(reason: string): Buffer {
  const text = Buffer.from(`${reason}\0`)
  const header = Buffer.from('f\0\0\0\0')
  header.writeInt32BE(4 + text.length, 1)
  return Buffer.concat([header, text])
}
