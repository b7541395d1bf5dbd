/**
 * Signs messages in threads of its own: an RSA-2048 signature takes 0.6 ms, in which the main thread moves five
 * messages. Threads start with the first message and end with close().
 */
import { Worker } from 'node:worker_threads'

import type { SmtpSettings } from '../smtp-settings.js'

export type DkimKey = NonNullable<SmtpSettings['dkim']>

export interface SignRequest {
  readonly id: number
  readonly bytes: Uint8Array
}
export type SignAnswer =
  | { readonly id: number; readonly header: string }
  | { readonly id: number; readonly refused: string }

export interface DkimSigner {
  /** The message with its DKIM-Signature on top. */
  sign(bytes: Buffer): Promise<Buffer>
  close(): Promise<void>
}

/** The key itself does not work. */
export class DkimKeyError extends Error {
  override readonly name = 'DkimKeyError'
}

/** A second one doubles the rate; more would take cores from everything else. */
const MAX_THREADS = 2

interface Pending {
  readonly resolve: (header: string) => void
  readonly reject: (error: Error) => void
}

class SigningThread {
  readonly pending = new Map<number, Pending>()
  readonly worker: Worker
  isOver = false
  #lastId = 0

  constructor(key: DkimKey) {
    this.worker = startThread(key)
    // Not what keeps a process alive: a message that waits for its signature has been promised to nobody.
    this.worker.unref()
    this.worker.on('message', (answer: SignAnswer) => {
      const pending = this.pending.get(answer.id)
      this.pending.delete(answer.id)
      if ('header' in answer) pending?.resolve(answer.header)
      else pending?.reject(new DkimKeyError(`the DKIM key cannot sign: ${answer.refused}`))
    })
    this.worker.on('error', (error: Error) => this.#end(error))
    this.worker.on('exit', () => this.#end(new Error('the DKIM thread ended')))
  }

  sign(bytes: Buffer): Promise<string> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      this.pending.set(id, { resolve, reject })
      this.worker.postMessage({ id, bytes } satisfies SignRequest)
    })
  }

  #end(error: Error): void {
    this.isOver = true
    for (const { reject } of this.pending.values()) reject(error)
    this.pending.clear()
  }
}

export function createDkimSigner(key: DkimKey): DkimSigner {
  let threads: SigningThread[] = []

  /** The least busy thread; another one when all are busy and there may be more. */
  const chooseThread = (): SigningThread => {
    threads = threads.filter((thread) => !thread.isOver)
    const idlest = threads.toSorted((a, b) => a.pending.size - b.pending.size)[0]
    if (idlest && (idlest.pending.size === 0 || threads.length === MAX_THREADS)) return idlest
    const thread = new SigningThread(key)
    threads.push(thread)
    return thread
  }

  return {
    async sign(bytes) {
      const header = await chooseThread().sign(bytes)
      return Buffer.concat([Buffer.from(header), bytes])
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.worker.terminate()))
      threads = []
    },
  }
}

/** From whatever this package runs as: compiled, or straight from its TypeScript source. */
function startThread(workerData: DkimKey): Worker {
  const name = 'postrider-dkim'
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./dkim-worker.js', import.meta.url), { workerData, name })
  }
  // In Node 20 a loader that the process was started with does not reach the entry file of a thread, so the thread
  // registers tsx itself. Published packages contain no .ts and never come here.
  const tsx = new URL('../../../node_modules/tsx/dist/esm/api/index.mjs', import.meta.url).href
  const entry = new URL('./dkim-worker.ts', import.meta.url).href
  return new Worker(`import('${tsx}').then(({ register }) => (register(), import('${entry}')))`, {
    eval: true,
    workerData,
    name,
  })
}
