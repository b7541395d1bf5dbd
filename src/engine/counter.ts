import type { Database } from '../db/client.js'
import { rollUpThroughput } from '../db/throughput.js'
import type { Log } from '../log.js'
import { createLoop, type Loop } from './loop.js'

const INTERVAL_MS = 10_000
/** Rests so many times as long as it took: whoever catches up leaves most of a processor to those who send. */
const REST = 9

/** Counts what came of attempts, so that nobody who looks at them has to. */
export const createCounter = ({ db, log }: { readonly db: Database; readonly log: Log }): Loop =>
  createLoop({
    name: 'counter',
    log,
    intervalMs: INTERVAL_MS,
    async round() {
      const from = performance.now()
      if (await rollUpThroughput(db)) return (performance.now() - from) * REST
      return
    },
  })

/** At once. */
export async function countAttempts(db: Database): Promise<void> {
  while (await rollUpThroughput(db));
}
