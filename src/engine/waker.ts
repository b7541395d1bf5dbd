import type { Database } from '../db/client.js'
import { WAKE_CHANNEL } from '../db/wake-channel.js'
import type { Log } from '../log.js'

/**
 * Says "something is due" to the dispatcher in this process at once, and to those in other processes by NOTIFY. A
 * NOTIFY takes a lock on the whole database while it commits, so there is one per flush: while one is under way, any
 * number of wake-ups become the next. Losing one costs a poll interval, nothing else.
 */
export interface Waker {
  /** `later` when what was scheduled includes something that is not due yet. */
  wake(later?: boolean): void
  /** Resolves when nothing is left to announce. */
  close(): Promise<void>
}

export function createWaker({
  db,
  log,
  local,
  others,
}: {
  db: Database
  log: Log
  local: (later: boolean) => void
  /** False when nobody else can be listening: the embedded database, seen by its owner. */
  others: boolean
}): Waker {
  let wanted = false
  let announcing: Promise<void> | undefined

  const announce = async () => {
    while (wanted) {
      wanted = false
      await db
        .query(`notify ${WAKE_CHANNEL}`)
        .catch((error: unknown) => log.debug({ err: error }, 'wake-up not announced; the poll will find the work'))
    }
    announcing = undefined
  }

  return {
    wake(later = true) {
      local(later)
      if (!others) return
      wanted = true
      announcing ??= announce()
    },
    close: async () => announcing,
  }
}
