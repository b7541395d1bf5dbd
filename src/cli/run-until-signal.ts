import type { Log } from '../log.js'

/**
 * Keeps the process alive until it is asked to stop. The first signal finishes what is armed and gives back the rest;
 * a second one exits at once, which is safe: leases run out. `announce` is called when signals are heard: whoever reads
 * that it is ready may send one at once.
 */
export async function runUntilSignal(announce: () => void, stop: () => Promise<void>, log: Log): Promise<void> {
  const alive = setInterval(() => undefined, 2 ** 30)
  try {
    const asked = whenAsked(log)
    announce()
    await asked
    await stop()
  } finally {
    clearInterval(alive)
  }
}

const whenAsked = (log: Log) =>
  new Promise<void>((resolve) => {
    let asked = false
    const onSignal = (signal: NodeJS.Signals) => {
      if (asked) {
        log.warn({ signal }, 'asked twice: exiting at once; leases will run out')
        process.exit(1)
      }
      asked = true
      log.info({ signal }, 'stopping: no new work, finishing what is armed')
      resolve()
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
