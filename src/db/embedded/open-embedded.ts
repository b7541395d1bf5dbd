/** An embedded PostgreSQL for whoever has none: a thread with PGlite in it, reached through a unix socket with `pg`. */
import { chmodSync, mkdirSync, realpathSync } from 'node:fs'

import { DirectoryInUseError } from './directory-lock.js'
import type { SocketAddress } from './socket-path.js'
import type { Durability } from './start-backend.js'
import { startThread } from './start-thread.js'
import type { FromThread, ToThread } from './thread-messages.js'

export interface EmbeddedDatabase {
  /** What `pg` takes: `new Pool({ ...socket, user: 'postgres', database: 'postgres' })`. */
  readonly socket: SocketAddress
  /** Whether a confirmed commit survives a power failure, found out by trying. */
  readonly durability: Durability
  /** Calls back for every NOTIFY committed by any connection, other processes included. Returns how to stop. */
  onNotify(listener: (channel: string) => void): () => void
  /** Ends all connections, writes everything back, gives up the directory. May be called more than once. */
  close(): Promise<void>
}

export interface OpenEmbeddedOptions {
  readonly directory: string
  /** The database is gone for good: only opening it again, best in a new process, brings it back. */
  readonly onCrash?: (reason: string) => void
  readonly log?: (message: string, detail?: object) => void
}

/** Throws DirectoryInUseError when another process, or this one, has the directory open. */
export async function openEmbedded({
  directory,
  onCrash = () => {},
  log = () => {},
}: OpenEmbeddedOptions): Promise<EmbeddedDatabase> {
  const path = preparePrivateDirectory(directory, log)
  const listeners = new Set<(channel: string) => void>()
  const worker = startThread({ directory: path })
  let running = false
  let closing = false
  let failure: string | null = null
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))

  const { socket, durability } = await new Promise<Extract<FromThread, { type: 'ready' }>>((resolve, reject) => {
    worker.on('message', (message: FromThread) => {
      switch (message.type) {
        case 'ready':
          running = true
          return resolve(message)
        case 'refused':
          return reject(new DirectoryInUseError(path, message.owner))
        case 'failed':
          failure = message.reason
          return
        case 'log':
          return log(message.message, message.detail)
        case 'notify':
          for (const listener of listeners) listener(message.channel)
          return
      }
    })
    // An unhandled listener-less 'error' would end the whole process; 'exit' always follows and speaks for both.
    worker.on('error', (error) => {
      failure ??= error.stack ?? error.message
    })
    worker.on('exit', () => {
      reject(new Error(failure ?? 'The thread of the embedded database ended while it was starting.'))
      if (running && !closing) onCrash(failure ?? 'its thread ended')
    })
  })

  if (!durability.fsync) {
    log('WARNING: the embedded database is NOT safe against power loss: the last commits may vanish', durability)
  }
  return {
    socket,
    durability,
    onNotify(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async close() {
      if (!closing) {
        closing = true
        worker.postMessage({ type: 'close' } satisfies ToThread)
      }
      await ended
      if (failure) throw new Error(`The embedded database did not close cleanly: ${failure}`)
    },
  }
}

/** Whoever can enter the directory can open the socket and read every file in it. */
function preparePrivateDirectory(directory: string, log: (message: string, detail?: object) => void): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  try {
    chmodSync(directory, 0o700)
  } catch (error) {
    log('the data directory belongs to another user, so its permissions stay as they are', { error: String(error) })
  }
  // One directory, one lock, one socket, however it was spelled.
  return realpathSync(directory)
}
