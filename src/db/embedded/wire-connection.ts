/** One client's connection: the handshake, its units in order, and what becomes of the session when it goes. */
import type { Socket } from 'node:net'

import { readOutput, withoutNotifications, type Notification } from './backend-output.js'
import { MessageCutter, PROTOCOL_MAJOR, ProtocolViolation } from './message-cutter.js'
import type { Backend } from './start-backend.js'
import type { Participant, SessionTurns } from './session-turns.js'

const CANCEL_REQUEST = 80877102
const SSL_REQUEST = 80877103
const GSS_REQUEST = 80877104
const SYNC = Buffer.from([0x53, 0, 0, 0, 4])

/** What the connection tells the server it belongs to. */
export interface ConnectionHost {
  notified(notifications: readonly Notification[], by: WireConnection): void
  unlistened(): void
  left(connection: WireConnection): void
}

export class WireConnection implements Participant {
  /** It has executed a LISTEN, so it gets what others notify. */
  listening = false
  readonly #socket: Socket
  readonly #backend: Backend
  readonly #turns: SessionTurns
  readonly #host: ConnectionHost
  readonly #cutter = new MessageCutter()
  readonly #units: Buffer[] = []
  #terminating = false
  #left = false

  constructor(socket: Socket, backend: Backend, turns: SessionTurns, host: ConnectionHost) {
    this.#socket = socket
    this.#backend = backend
    this.#turns = turns
    this.#host = host
    socket.on('data', (chunk) => this.#receive(chunk))
    // A client that asks without reading the answers must not fill our memory with them.
    socket.on('drain', () => socket.resume())
    // Without a listener a reset connection would end the thread; 'close' follows and does the work.
    socket.on('error', () => {})
    socket.on('close', () => this.#leave())
  }

  get ready(): boolean {
    return this.#units.length > 0
  }

  takeTurn(): boolean {
    const unit = this.#units.shift()
    if (!unit) return this.#turns.holds(this)
    const bytes = this.#backend.run(unit)
    const output = readOutput(bytes)
    this.listening ||= output.listened
    this.send(this.listening ? bytes : withoutNotifications(bytes, output))
    if (output.notifications.length > 0) this.#host.notified(output.notifications, this)
    if (output.unlistened) this.#host.unlistened()
    if (this.#terminating && !this.ready) this.#socket.end()
    // No status after a Flush: the statement is half-way and must not meet anybody else's.
    return output.status !== 'I'
  }

  evict(): void {
    this.#refuse('25P03', 'terminating connection: it held a transaction open without using it, and all others wait')
  }

  send(bytes: Buffer): void {
    if (!this.#socket.write(bytes)) this.#socket.pause()
  }

  destroy(): void {
    this.#socket.destroy()
    // Not left to 'close', which comes later: the backend may be gone by then.
    this.#leave()
  }

  #receive(chunk: Buffer): void {
    if (this.#terminating) return
    try {
      for (const event of this.#cutter.push(chunk)) {
        if (event.kind === 'startup') this.#greet(event.code)
        else if (event.kind === 'unit') this.#units.push(event.bytes)
        else this.#terminating = true
      }
    } catch (error) {
      if (!(error instanceof ProtocolViolation)) throw error
      this.#refuse('08P01', error.message)
      return
    }
    if (this.ready) {
      this.#turns.request(this)
    } else if (this.#terminating) {
      this.#leave()
      this.#socket.end()
    }
  }

  #greet(code: number): void {
    if (code === SSL_REQUEST || code === GSS_REQUEST) this.send(Buffer.from('N'))
    // Nothing can be cancelled: while a statement runs, so does the thread that would have to read the request.
    else if (code === CANCEL_REQUEST) this.#socket.destroy()
    // User, database and options of the client are not looked at: there is one session and it has started long ago.
    else if (code >> 16 === PROTOCOL_MAJOR) this.send(this.#backend.greeting)
    else throw new ProtocolViolation(`unsupported frontend protocol ${code >> 16}.${code & 0xffff}`)
  }

  #refuse(sqlState: string, text: string): void {
    const fields = Buffer.from(`SFATAL\0VFATAL\0C${sqlState}\0M${text}\0\0`)
    const header = Buffer.from('E\0\0\0\0')
    header.writeInt32BE(4 + fields.length, 1)
    this.#socket.write(Buffer.concat([header, fields]))
    // Not end(): a client that never closes its side would keep the session.
    this.#socket.destroySoon()
    this.#leave()
  }

  /** Leaves the session as a new connection expects it. What this one had not yet been answered is rolled back. */
  #leave(): void {
    if (this.#left) return
    this.#left = true
    this.#terminating = true
    this.#units.length = 0
    if (this.#turns.holds(this)) {
      this.#backend.run(SYNC)
      this.#backend.query('ROLLBACK')
    }
    this.#host.left(this)
    this.#turns.leave(this)
  }
}
