/** PostgreSQL's wire protocol on a unix socket, in front of the one session PGlite has. */
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'

import type { Notification } from './backend-output.js'
import type { SessionTurns } from './session-turns.js'
import { socketFile, type SocketAddress } from './socket-path.js'
import type { Backend } from './start-backend.js'
import { WireConnection, type ConnectionHost } from './wire-connection.js'

export class WireServer implements ConnectionHost {
  readonly #backend: Backend
  readonly #turns: SessionTurns
  readonly #onNotify: (channel: string) => void
  readonly #connections = new Set<WireConnection>()
  readonly #server: Server

  constructor(backend: Backend, turns: SessionTurns, onNotify: (channel: string) => void) {
    this.#backend = backend
    this.#turns = turns
    this.#onNotify = onNotify
    this.#server = createServer({ noDelay: true }, (socket) => {
      this.#connections.add(new WireConnection(socket, backend, turns, this))
    })
  }

  /** Only for whoever holds the directory's lock: a socket file that is already there belongs to a dead owner. */
  async listen(socket: SocketAddress): Promise<void> {
    const path = socketFile(socket)
    rmSync(path, { force: true })
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(path, resolve)
    })
    // Whoever can open the socket is superuser. The directory is private already; this covers one that could not be.
    chmodSync(path, 0o600)
  }

  /** Ends every connection, their transactions rolled back, and removes the socket file. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const connection of this.#connections) connection.destroy()
    await closed
  }

  /** The backend tells whoever committed; PostgreSQL would have told the listeners. */
  notified(notifications: readonly Notification[], by: WireConnection): void {
    for (const { channel, message } of notifications) {
      for (const connection of this.#connections) {
        if (connection !== by && connection.listening) connection.send(message)
      }
      this.#onNotify(channel)
    }
  }

  unlistened(): void {
    this.#turns.requestFirst(() => this.#backend.listen())
  }

  left(connection: WireConnection): void {
    this.#connections.delete(connection)
    this.#turns.requestFirst(() => this.#backend.reset({ alone: this.#connections.size === 0 }))
  }
}
