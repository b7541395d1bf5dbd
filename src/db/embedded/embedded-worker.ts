/**
 * The thread the embedded database runs in. PGlite blocks whoever calls it while it works, fsync included; here it
 * blocks nobody but itself. The directory's lock is taken here as well: it lives exactly as long as the thread that
 * writes the files, because Node closes a thread's files when the thread ends, however it ends.
 */
import { parentPort, workerData } from 'node:worker_threads'

import { acquireDirectoryLock, DirectoryInUseError } from './directory-lock.js'
import { Maintenance } from './maintenance.js'
import { SessionTurns } from './session-turns.js'
import { prepareSocket } from './socket-path.js'
import { startBackend } from './start-backend.js'
import type { FromThread, ThreadOptions, ToThread } from './thread-messages.js'
import { WireServer } from './wire-server.js'

const port = parentPort!
const tell = (message: FromThread) => port.postMessage(message)
const log = (message: string, detail?: object) => tell({ type: 'log', message, ...(detail && { detail }) })

/** Ends the thread on the spot: after a crash of the backend nothing may be answered, least of all with success. */
function fail(reason: string): never {
  tell({ type: 'failed', reason })
  process.exit(1)
}

async function open({ directory }: ThreadOptions): Promise<void> {
  const lock = await acquireDirectoryLock(directory)
  const socket = prepareSocket(directory)
  const backend = await startBackend(directory, fail)
  const turns = new SessionTurns()
  const server = new WireServer(backend, turns, (channel) => tell({ type: 'notify', channel }))
  const maintenance = new Maintenance(backend, turns, log)

  port.on('message', (message: ToThread) => {
    if (message.type === 'close') void close().catch((error: unknown) => fail(describe(error)))
  })
  async function close(): Promise<void> {
    maintenance.stop()
    await server.close()
    await backend.close()
    lock.release()
    process.exit(0)
  }

  await server.listen(socket)
  lock.announce(socket)
  maintenance.start()
  tell({ type: 'ready', socket, durability: backend.durability })
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

open(workerData as ThreadOptions).catch((error: unknown) => {
  if (!(error instanceof DirectoryInUseError)) fail(describe(error))
  tell({ type: 'refused', owner: { pid: error.pid, socket: error.socket } })
  process.exit(0)
})
