import type { Database } from '../db/client.js'
import { dropLeases, renewLeases } from '../db/leases.js'
import type { LeasedAction } from '../domain/action.js'
import type { Log } from '../log.js'
import { createLoop, type Loop } from './loop.js'

/**
 * Keeps the leases of this worker: renews them while work goes on, says when one is lost, and gives one back when all
 * its actions are settled. It knows the end of a lease by its own monotonic clock as well, counted from before the
 * question was asked, so that a process that was frozen notices before it does something late.
 */
export interface LeaseKeeper {
  /** Call with the moment just before the claim was sent. */
  take(token: string, actions: readonly LeasedAction[], askedAt: number): AbortSignal
  holds(token: string): boolean
  /**
   * Nothing more will be written for this action under this token. `confirmed` says that the database has settled it; a
   * lease with an action that was not confirmed is left to run out, because only the rescuer can tell what is under it.
   */
  letGo(token: string, actionId: string, confirmed: boolean): void
  readonly size: number
  start(): void
  stop(): Promise<void>
  renew(): Promise<void>
}

interface Lease {
  readonly open: Set<string>
  readonly lost: AbortController
  expiresAt: number
  confirmed: boolean
}

/** A claim at half load is over after some milliseconds: a dozen leases are given back with one statement. */
const GATHER_MS = 100

export function createLeaseKeeper({ db, leaseMs, log }: { db: Database; leaseMs: number; log: Log }): LeaseKeeper {
  const leases = new Map<string, Lease>()
  const finished: string[] = []
  let dropping: Promise<void> | undefined
  let hurry: (() => void) | undefined

  const renew = async () => {
    const tokens = [...leases.keys()]
    if (tokens.length === 0) return
    const askedAt = performance.now()
    const renewed = await renewLeases(db, tokens, leaseMs)
    for (const token of tokens) {
      const lease = leases.get(token)
      if (!lease) continue
      if (renewed.has(token)) {
        lease.expiresAt = askedAt + leaseMs
      } else {
        log.warn({ token, actions: lease.open.size }, 'lease lost')
        leases.delete(token)
        lease.lost.abort()
      }
    }
  }

  // Giving a lease back is housekeeping: one that stays behind is removed when it runs out.
  const drop = async () => {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS)
      hurry = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    while (finished.length > 0) {
      const tokens = finished.splice(0)
      await dropLeases(db, tokens).catch((error: unknown) => log.debug({ err: error }, 'leases not given back'))
    }
    dropping = undefined
  }

  const loop: Loop = createLoop({ name: 'lease-keeper', log, intervalMs: leaseMs / 3, round: renew })

  return {
    take(token, actions, askedAt) {
      const lease = {
        open: new Set(actions.map(({ id }) => id)),
        lost: new AbortController(),
        expiresAt: askedAt + leaseMs,
        confirmed: true,
      }
      leases.set(token, lease)
      return lease.lost.signal
    },
    holds: (token) => (leases.get(token)?.expiresAt ?? 0) > performance.now(),
    letGo(token, actionId, confirmed) {
      const lease = leases.get(token)
      if (!lease) return
      lease.open.delete(actionId)
      lease.confirmed &&= confirmed
      if (lease.open.size > 0) return
      leases.delete(token)
      if (!lease.confirmed) return
      finished.push(token)
      dropping ??= drop()
    },
    get size() {
      return leases.size
    },
    start: () => loop.start(),
    async stop() {
      await loop.stop()
      hurry?.()
      await dropping
    },
    renew,
  }
}
