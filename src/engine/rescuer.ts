import type { Database } from '../db/client.js'
import { promoteActions } from '../db/promote-actions.js'
import { type RescueCursor, rescueActions } from '../db/rescue-actions.js'
import { returnOldHints } from '../db/return-hints.js'
import { resendUncertain } from '../db/resend-uncertain.js'
import { findUnsweptLane, sweepCanceledLane } from '../db/sweep-canceled-lane.js'
import type { Log } from '../log.js'
import { createLoop, type Loop } from './loop.js'

/**
 * Rebuilds what crashes left behind, when a worker starts and every few seconds after: expired leases are rescued,
 * what has fallen due gets its hint, canceled lanes are swept. Every step may be repeated or interrupted, by any number
 * of workers at once.
 */
export interface Rebuilt {
  readonly leases: number
  readonly pending: number
  readonly uncertain: number
  /** Uncertain actions whose sender had chosen to send them again. */
  readonly resent: number
  readonly promoted: number
  readonly canceled: number
  /** Hints that were left with a broker nobody here uses any more. */
  readonly returned: number
}

/** How often, and after which wait, an action whose sender chose `resend` is handed over again. */
export interface ResendPolicy {
  readonly maxAttempts: number
  readonly waitMs: number
}

const NO_RESEND: ResendPolicy = { maxAttempts: 0, waitMs: 0 }
const LEASES = 50
/** Long enough for workers that do use a broker, in the middle of a change from or to it. */
const LEFT_BEHIND_MS = 30_000
const PROMOTION = 1_000

export async function rebuild(
  db: Database,
  resend: ResendPolicy = NO_RESEND,
  /** Whether a relay in this process looks after what brokers were given. */
  relayed = false,
): Promise<Rebuilt> {
  let [leases, pending, uncertain, promoted, canceled] = [0, 0, 0, 0, 0]
  for (let after: RescueCursor | undefined; ;) {
    const rescued = await rescueActions(db, LEASES, after)
    leases += rescued.leases
    pending += rescued.pending
    uncertain += rescued.uncertain.length
    if (!rescued.next) break
    after = rescued.next
  }
  const returned = relayed ? 0 : await returnOldHints(db, LEFT_BEHIND_MS)
  const resent = (await resendUncertain(db, { ...resend, limit: PROMOTION })).length
  for (;;) {
    const { promoted: some } = await promoteActions(db, PROMOTION)
    promoted += some
    if (some < PROMOTION) break
  }
  for (;;) {
    const lane = await findUnsweptLane(db)
    if (!lane) break
    canceled += await sweepCanceledLane(db, lane)
  }
  return { leases, pending, uncertain, resent, promoted, canceled, returned }
}

export interface RescuerOptions {
  readonly db: Database
  readonly log: Log
  readonly intervalMs: number
  readonly resend?: ResendPolicy
  readonly relayed?: boolean
  /** Something became due: tell the dispatcher. */
  readonly onDue: () => void
  readonly onRebuilt?: (rebuilt: Rebuilt) => void
}

export function createRescuer({ db, log, intervalMs, resend, relayed, onDue, onRebuilt }: RescuerOptions): Loop {
  return createLoop({
    name: 'rescuer',
    log,
    intervalMs,
    async round() {
      const rebuilt = await rebuild(db, resend, relayed)
      onRebuilt?.(rebuilt)
      if (rebuilt.uncertain > 0) log.warn(rebuilt, 'actions became uncertain: nobody knows whether they happened')
      else if (rebuilt.pending + rebuilt.canceled + rebuilt.resent + rebuilt.returned > 0) log.info(rebuilt, 'rebuilt')
      if (rebuilt.pending + rebuilt.promoted + rebuilt.returned > 0) onDue()
    },
  })
}
