import type { Database } from '../db/client.js'
import { rollUpThroughput } from '../db/throughput.js'
import type { Log } from '../log.js'
import { createLoop, type Loop } from './loop.js'

const INTERVAL_MS = 30_000

/** Counts what came of the minutes that are over, so that nobody who looks at them has to. */
export const createCounter = ({ db, log }: { readonly db: Database; readonly log: Log }): Loop =>
  createLoop({
    name: 'counter',
    log,
    intervalMs: INTERVAL_MS,
    round: () => countMinutes(db),
  })

export async function countMinutes(db: Database): Promise<void> {
  while (await rollUpThroughput(db));
}
