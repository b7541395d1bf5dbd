import { FIRST_LANE, claimActions } from '../db/claim-actions.js'
import { claimDueActions } from '../db/claim-due-actions.js'
import { claimHintedActions } from '../db/claim-hinted-actions.js'
import type { Database } from '../db/client.js'
import type { Claim } from '../db/lease-taken.js'
import { promoteActions } from '../db/promote-actions.js'
import { BULK_LANE } from '../domain/lane.js'
import { groupCommit } from '../group-commit.js'
import { newId } from '../id.js'
import type { Log } from '../log.js'
import { createDueClock } from './due-clock.js'
import { LARGEST_CLAIM, type Places } from './places.js'
import { whileAway } from './while-away.js'

/**
 * Leases what a worker is to do next, in one of three ways. Hints say what is due, and lanes take turns. While there is room
 * for everything, what falls due is leased as it is found, a little ahead of its time. And a broker names single actions.
 */
export interface Claimer {
  /** Takes what has fallen due and what is hinted at, as far as there is room; returns how much was looked at. */
  look(): Promise<number>
  /** In how many milliseconds there may be something to look for. */
  nextLookInMs(): number
  /** Takes all that is hinted at, as far as there is room; returns how many hints were looked at. */
  claim(): Promise<number>
  /** Turns what has fallen due into hints; returns in how many milliseconds more falls due. */
  promote(): Promise<number>
  /** Claims what a message named, many with one statement. Resolves with what to wait for, null if it was not to be had. */
  claimNamed(actionId: string): Promise<{ readonly settled: Promise<void> } | null>
  /** There may be hints. */
  expectHints(): void
  /** Something falls due in so many milliseconds, which may be earlier than was known. */
  expectDue(inMs?: number): void
  /** Claims nothing more, except what was asked for already. */
  close(): void
  /** All that was being claimed for messages is claimed. */
  allClaimed(): Promise<unknown>
}

export interface ClaimerOptions {
  readonly db: Database
  readonly log: Log
  readonly worker: string
  readonly places: Places
  readonly leaseMs: number
  /** How long something due can go unnoticed at the most. */
  readonly pollMs: number
  /** How far ahead of its time what waits is leased. */
  readonly leadMs: number
  readonly isBrokered: () => boolean
  /** Begins what was claimed under a token; `over` hears when each is settled. */
  readonly accept: (claim: Claim, token: string, askedAt: number, over?: ReadonlyMap<string, () => void>) => void
  /** So many messages found nothing to do. */
  readonly onDropped?: (messages: number) => void
  /** What a message named is not due yet and waits again. */
  readonly onEarly?: () => void
}

/** Claims skip each other's rows, so a worker with room for several batches need not wait for one after the other. */
const CLAIMS_AT_ONCE = 2
/**
 * Looked for when the next one is so much of the lead away. Nearer, and a stream would be found in bursts that keep the
 * database from arming what is due; farther, and each would pay for a claim of its own.
 */
const LOOKED_AHEAD = 0.75
const PROMOTION = 1_000

export function createClaimer(options: ClaimerOptions): Claimer {
  const { db, log, worker, places, leaseMs, pollMs, isBrokered, accept } = options
  const due = createDueClock(pollMs)
  let cursor = FIRST_LANE
  let closed = false
  /** There may be hints: somebody said so, or the last claim found some. */
  let hinted = true
  /** The last claim took every hint of an open lane there was. */
  let caughtUp = false
  let claimAt = 0

  const claim = async (): Promise<number> => {
    const room = places.room()
    hinted = false
    claimAt = performance.now() + pollMs
    const claims = Math.min(Math.ceil(room / LARGEST_CLAIM), db.embedded ? 1 : CLAIMS_AT_ONCE)
    const size = Math.min(Math.ceil(room / claims), LARGEST_CLAIM)
    const looked = await Promise.all(Array.from({ length: claims }, () => claimOnce(size))).catch((error: unknown) => {
      hinted = true
      throw error
    })
    caughtUp = looked.every((count) => count < size)
    hinted ||= looked.some((count) => count > 0)
    return looked.reduce((sum, count) => sum + count, 0)
  }

  /** `urgent`: of single emails only, without moving the turn of those who wait. */
  const claimOnce = async (limit: number, urgent = false): Promise<number> => {
    const token = newId()
    const askedAt = performance.now()
    const only = urgent ? { mostPriority: BULK_LANE.priority - 1 } : {}
    const claimed = await claimActions(db, { token, worker, limit, leaseMs, cursor, ...only })
    if (!urgent) cursor = claimed.cursor
    if (claimed.early > 0) due.expect()
    begin(claimed, token, askedAt)
    return claimed.looked
  }

  const begin = (claimed: Claim, token: string, askedAt: number) => {
    if (claimed.canceled + claimed.expired > 0)
      log.info({ canceled: claimed.canceled, expired: claimed.expired }, 'due actions were over before they began')
    if (claimed.actions.length > 0)
      log.debug({ token, actions: claimed.actions.length, looked: claimed.looked }, 'claimed')
    accept(claimed, token, askedAt)
  }

  /** Where everything is taken there is nothing to be fair about; with hints left over, or no room, lanes take turns. */
  const takesDue = () => caughtUp && !closed && !isBrokered() && !places.isFull()

  /** Not at all where lanes take turns, or enough is held already. */
  const leadMs = () => (takesDue() && !places.isFullAhead() ? options.leadMs : 0)

  /** Takes what has fallen due, or soon will, as far as there is room. */
  const claimDue = async (): Promise<number> => {
    const token = newId()
    const askedAt = performance.now()
    const lead = leadMs()
    const room = Math.min(places.room(), LARGEST_CLAIM, lead > 0 ? places.roomAhead() : LARGEST_CLAIM)
    const limit = 2 ** Math.floor(Math.log2(room))
    let looked = 0
    await due.look(async () => {
      const claimed = await claimDueActions(db, { token, worker, leaseMs, limit, leadMs: lead })
      begin(claimed, token, askedAt)
      ;({ looked } = claimed)
      // More may be due than was taken: for the rest lanes take turns.
      if (claimed.due === limit && claimed.nextInMs! <= 0) caughtUp = false
      return claimed.nextInMs
    })
    return looked
  }

  const promote = (): Promise<number> =>
    due.look(async () => {
      const { promoted, nextInMs } = await promoteActions(db, PROMOTION)
      return promoted === PROMOTION ? 0 : nextInMs
    })

  const nextDueLookInMs = () => due.inMs() - leadMs() * LOOKED_AHEAD

  const claimAllNamed = async (ids: readonly string[]) => {
    const token = newId()
    let askedAt = 0
    const claimed = await whileAway(() => {
      if (closed) throw new Error('The dispatcher is stopping.')
      askedAt = performance.now()
      return claimHintedActions(db, { token, worker, leaseMs, ids: [...new Set(ids)] })
    })
    if (claimed.early > 0) options.onEarly?.()
    options.onDropped?.(ids.length - claimed.actions.length)
    const over = new Map<string, () => void>()
    const settled = new Map<string, Promise<void>>(
      claimed.actions.map(({ id }) => [id, new Promise((resolve) => over.set(id, resolve))]),
    )
    accept(claimed, token, askedAt, over)
    return ids.map((id) => {
      const found = settled.get(id)
      // In an object, or a promise for it would wait for it too.
      return found ? { settled: found } : null
    })
  }
  const claiming = new Set<Promise<unknown>>()
  const claimNamed = groupCommit<string, { readonly settled: Promise<void> } | null>(
    (ids) => {
      const claimed = claimAllNamed(ids)
      claiming.add(claimed)
      return claimed.finally(() => claiming.delete(claimed))
    },
    { maxItems: LARGEST_CLAIM, maxFlushes: CLAIMS_AT_ONCE },
  )

  return {
    async look() {
      let looked = 0
      if (nextDueLookInMs() <= 0) {
        if (takesDue()) looked = await claimDue()
        else {
          await promote()
          hinted = true
        }
      }
      if (closed) return 0
      if (places.isFull()) return places.urgentRoom() > 0 ? looked + (await claimOnce(places.urgentRoom(), true)) : 0
      return hinted || performance.now() >= claimAt ? looked + (await claim()) : looked
    },
    nextLookInMs: () => Math.min(nextDueLookInMs(), claimAt - performance.now()),
    claim,
    promote,
    claimNamed,
    expectHints: () => void (hinted = true),
    expectDue: due.expect,
    close: () => void (closed = true),
    // What failed was told to whoever asked for it.
    allClaimed: () => Promise.allSettled(claiming),
  }
}
