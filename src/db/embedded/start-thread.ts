/** Starts the database's thread from whatever this package runs as: compiled, or straight from its TypeScript source. */
import { Worker } from 'node:worker_threads'

import type { ThreadOptions } from './thread-messages.js'

export function startThread(workerData: ThreadOptions): Worker {
  const name = 'postrider-embedded-database'
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./embedded-worker.js', import.meta.url), { workerData, name })
  }
  // A loader that the process was started with (tsx, vitest) does not reach the entry file of a thread in Node 20, so
  // the thread registers tsx itself. Published packages contain no .ts and never come here.
  const tsx = new URL('../../../node_modules/tsx/dist/esm/api/index.mjs', import.meta.url).href
  const entry = new URL('./embedded-worker.ts', import.meta.url).href
  return new Worker(`import('${tsx}').then(({ register }) => (register(), import('${entry}')))`, {
    eval: true,
    workerData,
    name,
  })
}
