import { setTimeout as wait } from 'node:timers/promises'

const EVERY_MS = 1_000

/**
 * Shows on the terminal what `look` finds, over and over in the same place, until that is over or somebody has seen
 * enough (Ctrl-C).
 */
export async function watch(look: () => Promise<{ readonly text: string; readonly over: boolean }>): Promise<void> {
  const enough = new AbortController()
  const stop = () => enough.abort()
  process.once('SIGINT', stop)
  try {
    let height = 0
    while (!enough.signal.aborted) {
      const { text, over } = await look()
      process.stdout.write(`${height === 0 ? '' : `\x1b[${height}A\x1b[J`}${text}\n`)
      height = text.split('\n').length
      if (over) return
      await wait(EVERY_MS, undefined, { signal: enough.signal }).catch(() => undefined)
    }
  } finally {
    process.off('SIGINT', stop)
  }
}
