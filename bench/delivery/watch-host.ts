import { setTimeout as sleep } from 'node:timers/promises'
import { readBusySeconds, readStolenMs } from '../support/machine.js'

/** What the machine under a measurement did meanwhile. */
export interface HostWatch {
  /** Null if nobody says. At p99 little is much: a hundredth of twenty seconds are 200 ms. */
  readonly stolenMs: number | null
  /** On average, whoever kept them so: half of the emails are more than half of the work. */
  readonly busyProcessors: number
  /** Whether nothing was taken away in the half second before an instant and in the tenth after it. */
  wasQuiet(at: number): boolean
}

const SAMPLE_MS = 50
/** What was held up needs time to catch up, so a moment after a theft is still about the theft. */
const BEFORE_MS = 500
const AFTER_MS = 100

/** Looks from one instant to another at what others on the same host take away. Of the emails themselves it knows nothing. */
export async function watchHost(from: number, to: number): Promise<HostWatch> {
  await sleep(Math.max(0, from - BEFORE_MS - Date.now()))
  const thefts: { readonly after: number; readonly before: number }[] = []
  let lookedAt = Date.now()
  let seen = readStolenMs()
  let stolenBefore = seen
  let busyBefore = readBusySeconds()
  let begun = false
  while (lookedAt < to + AFTER_MS) {
    await sleep(SAMPLE_MS)
    const now = Date.now()
    const stolen = readStolenMs()
    if (!begun && now >= from) {
      begun = true
      stolenBefore = stolen
      busyBefore = readBusySeconds()
    }
    if (stolen !== seen) thefts.push({ after: lookedAt, before: now })
    seen = stolen
    lookedAt = now
  }
  return {
    stolenMs: seen === null || stolenBefore === null ? null : seen - stolenBefore,
    busyProcessors: (readBusySeconds() - busyBefore) / ((lookedAt - from) / 1_000),
    wasQuiet: (at) => !thefts.some(({ after, before }) => before > at - BEFORE_MS && after < at + AFTER_MS),
  }
}
