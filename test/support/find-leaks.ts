import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Server, Socket } from 'node:net'
import { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'

/** What lives as long as the process, whichever file began it. */
const forGood = new Set<object>()

/** Nothing that is open when it has opened is anybody's leak. Nothing else may be opened meanwhile. */
export async function openForGood<T>(open: () => Promise<T>): Promise<T> {
  const before = new Set(activeHandles())
  const opened = await open()
  for (const handle of activeHandles()) if (!before.has(handle)) forGood.add(handle)
  return opened
}

/** Watches what a process holds open, from the moment it is made. */
export interface LeakWatch {
  /** In words, everything opened since and still open: sockets, servers, child processes, worker threads. */
  findLeaks(): string[]
  end(): void
}

/**
 * `process.getActiveResourcesInfo()` says only "TCPSocketWrap", so that one socket closed and another leaked look like
 * peace, and it does not list worker threads at all. So handles are told apart by identity, through the undocumented
 * but long-lived list behind it, and worker threads by the channel on which Node announces each one.
 */
export function watchForLeaks(): LeakWatch {
  const known = new Set(activeHandles())
  const workers = new Set<Worker>()
  const noteWorker = (message: unknown) => workers.add((message as { worker: Worker }).worker)
  subscribe('worker_threads', noteWorker)
  const standardStreams: unknown[] = [process.stdin, process.stdout, process.stderr]
  return {
    findLeaks() {
      const handles = activeHandles().filter(
        (handle) => !known.has(handle) && !forGood.has(handle) && !standardStreams.includes(handle),
      )
      // The id of a thread turns negative when it has ended.
      const threads = [...workers].filter((worker) => worker.threadId >= 0)
      return [...handles.map(describeHandle), ...threads.map((worker) => `worker thread ${worker.threadId}`)]
    },
    end: () => unsubscribe('worker_threads', noteWorker),
  }
}

/**
 * What is still there when the grace is over. Closing takes a few turns of the event loop, and a server notices a
 * closed connection later still, so this asks until nothing is left.
 */
export async function persistingLeaks(findLeaks: () => Promise<string[]>, graceMs: number): Promise<string[]> {
  const deadline = Date.now() + graceMs
  for (;;) {
    const leaks = await findLeaks()
    if (leaks.length === 0 || Date.now() > deadline) return leaks
    await sleep(20)
  }
}

function activeHandles(): object[] {
  return (process as unknown as { _getActiveHandles(): object[] })._getActiveHandles()
}

function describeHandle(handle: object): string {
  if (handle instanceof ChildProcess) return `child process ${handle.pid} (${handle.spawnargs.join(' ')})`
  if (handle instanceof Server) return `server listening on ${describeAddress(handle.address())}`
  if (handle instanceof Socket) {
    if (handle.remotePort === undefined) return 'pipe or unix socket'
    // Without the local end, the accepting side of a connection could not be told from the connecting one.
    return `socket from ${handle.localAddress}:${handle.localPort} to ${handle.remoteAddress}:${handle.remotePort}`
  }
  return handle.constructor.name
}

function describeAddress(address: ReturnType<Server['address']>): string {
  return address === null || typeof address === 'string' ? String(address) : `${address.address}:${address.port}`
}
