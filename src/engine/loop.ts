import { isDatabaseUnavailable } from '../db/client.js'
import type { Log } from '../log.js'

/**
 * A duty that is done again and again until it is stopped. It survives the loss of the database: it says so once, tries
 * again with growing pauses, and says when it is back. It never ends by itself and never spins.
 */
export interface Loop {
  start(): void
  /** Resolves when the round under way is over. */
  stop(): Promise<void>
  runOnce(): Promise<void>
  /** There may be something to do: do not wait for the interval. */
  wake(): void
}

export interface LoopOptions {
  readonly name: string
  readonly log: Log
  readonly intervalMs: number
  /** Does one round; a number says in how many milliseconds the next one is wanted, if sooner than the interval. */
  readonly round: () => Promise<number | void>
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

export function createLoop({ name, log, intervalMs, round }: LoopOptions): Loop {
  let running: Promise<void> | undefined
  let stopping = false
  let woken = false
  let rouse: (() => void) | undefined

  const sleep = async (ms: number) => {
    if (stopping || woken) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      rouse = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    rouse = undefined
  }

  const run = async () => {
    let failures = 0
    while (!stopping) {
      woken = false
      try {
        const wanted = await round()
        if (failures > 0) log.info({ loop: name, failures }, 'working again')
        failures = 0
        await sleep(Math.max(0, Math.min(intervalMs, wanted ?? intervalMs)))
      } catch (error) {
        const away = isDatabaseUnavailable(error)
        if (failures === 0 || !away)
          log.error(
            { loop: name, err: error },
            away ? 'the database is away; trying again' : 'round failed; trying again',
          )
        failures++
        const pause = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10), LONGEST_PAUSE_MS)
        // Spread out, so that a fleet does not come back in step. A wake-up does not shorten this pause: the database
        // that is away needs time, not questions.
        await pauseFor(pause * (0.5 + Math.random() / 2))
      }
    }
  }

  const pauseFor = async (ms: number) => {
    const until = performance.now() + ms
    while (!stopping && performance.now() < until) {
      woken = false
      await sleep(until - performance.now())
    }
  }

  return {
    start() {
      if (running) return
      stopping = false
      running = run()
    },
    async stop() {
      stopping = true
      rouse?.()
      await running
      running = undefined
    },
    async runOnce() {
      await round()
    },
    wake() {
      woken = true
      rouse?.()
    },
  }
}
