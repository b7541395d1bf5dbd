import type { Log } from '../log.js'

/**
 * Keeps the process alive until it is asked to stop. The first signal finishes what is armed and gives back the rest;
 * a second one exits at once, which is safe: leases run out.
 */
export async function runUntilSignal(stop: () => Promise<void>, log: Log): Promise<void> {
  const alive = setInterval(() => undefined, 2 ** 30)
  await new Promise<void>((resolve) => {
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
  await stop()
  clearInterval(alive)
}
