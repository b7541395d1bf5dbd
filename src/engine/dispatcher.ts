import { FIRST_LANE, claimActions } from '../db/claim-actions.js'
import { claimDueActions } from '../db/claim-due-actions.js'
import { claimHintedActions } from '../db/claim-hinted-actions.js'
import type { Database } from '../db/client.js'
import type { Claim } from '../db/lease-taken.js'
import { promoteActions } from '../db/promote-actions.js'
import type { LeasedAction, Outcome } from '../domain/action.js'
import { BULK_LANE } from '../domain/lane.js'
import type { RetryPolicies } from '../domain/retry.js'
import { groupCommit } from '../group-commit.js'
import { newId } from '../id.js'
import { inTime } from '../in-time.js'
import type { Log } from '../log.js'
import { createDueClock } from './due-clock.js'
import type { Handlers } from './handler.js'
import { createLeaseKeeper } from './lease-keeper.js'
import { logOutcome } from './log-outcome.js'
import { createLoop } from './loop.js'
import type { OutcomeNotes } from './outcome-notes.js'
import { createPaceMeter } from './pace-meter.js'
import { createPerformer } from './performer.js'
import { createPlaces, LARGEST_CLAIM } from './places.js'
import { whileAway } from './while-away.js'

/**
 * Claims what is due and has it performed, as much at a time as this worker can use soon. It holds nothing that
 * matters: whatever it has claimed and not armed goes back when it stops, and comes back by itself when it dies.
 */
export interface Dispatcher {
  /** Once; a stopped dispatcher stays stopped. */
  start(): void
  /**
   * Claims nothing more, gives back what was not begun, and waits for what is under way; what is still under way after
   * `graceMs` is cut short, and what has not ended even then is left to its lease.
   */
  stop(graceMs?: number): Promise<void>
  /** Works until nothing is due or `signal` says enough; for ticks and tests. */
  drain(signal?: AbortSignal): Promise<void>
  /**
   * Carries out actions that were inserted already leased to this process under one token, beside its own work.
   * Resolves when they are settled. `signal` ends what is not armed yet.
   */
  adopt(token: string, actions: readonly LeasedAction[], askedAt: number, signal: AbortSignal): Promise<void>
  /**
   * A broker says that this action is worth a look. Resolves when it is settled, or was not to be claimed; rejects when
   * this dispatcher stops before it could look.
   */
  offer(actionId: string): Promise<void>
  /** Something is due; `later` if something may also fall due soon that this dispatcher does not know of. */
  wake(later?: boolean): void
  readonly counts: Readonly<Record<Outcome['kind'] | 'claimed', number>>
}

export interface DispatcherOptions {
  readonly db: Database
  readonly handlers: Handlers
  readonly policies: RetryPolicies
  readonly notes?: OutcomeNotes
  readonly worker: string
  readonly log: Log
  /** Actions under way at once. */
  readonly concurrency: number
  readonly leaseMs: number
  /** The net under wake-ups: how long something due can go unnoticed at the most. */
  readonly pollMs?: number
  /**
   * How far ahead of its time what waits is leased by a worker that has room, so that it begins to the instant and a claim
   * is shared by more.
   * The longer, the earlier it is too late to reschedule an email; whoever cancels or pauses is heard until it is armed.
   */
  readonly leadMs?: number
  readonly onSettled?: (action: LeasedAction, outcome: Outcome) => void
  /** True while a broker says what is due: then this dispatcher looks for itself only every `sweepMs`. */
  readonly brokered?: () => boolean
  readonly sweepMs?: number
  /** Ends whatever hand-overs still wait for when this dispatcher may wait no longer. */
  readonly cutShort?: () => void
  /** So many messages found nothing to do. */
  readonly onDropped?: (messages: number) => void
  /** What a message named is not due yet and waits again. */
  readonly onEarly?: () => void
  /** An effect that comes again was committed, and may have made others due: whoever else works should hear of it. */
  readonly onRepeated?: () => void
}

/** Claims skip each other's rows, so a worker with room for several batches need not wait for one after the other. */
const CLAIMS_AT_ONCE = 2
/**
 * After a claim that found little, what falls due in the next moments shares the cost of the next: a claim, a lease and a
 * commit each for three emails at a time would keep the database busy with nothing else.
 */
const LITTLE = 50
const BREATH_MS = 5
const LEAD_MS = 100
/**
 * Looked for when the next one is so much of the lead away. Nearer, and a stream would be found in bursts that keep the
 * database from arming what is due; farther, and each would pay for a claim of its own.
 */
const LOOKED_AHEAD = 0.75
const PROMOTION = 1_000
/** Shorter than the half minute after which most who ask a process to stop kill it. */
const DEFAULT_GRACE_MS = 20_000
/** Enough to write down what became of what was cut short. */
const LAST_WORDS_MS = 5_000
/** What falls due within this is waited for: a campaign looks once more, a moment later, whether all has gone out. */
const SOON_MS = 300

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { db, log, worker, concurrency, leaseMs } = options
  const counts = { claimed: 0, done: 0, retry: 0, failed: 0, skipped: 0, uncertain: 0, release: 0 }
  const pollMs = options.pollMs ?? 1_000
  const longestLeadMs = options.leadMs ?? LEAD_MS
  const due = createDueClock(pollMs)
  const pace = createPaceMeter()
  const leases = createLeaseKeeper({ db, leaseMs, log })
  const performer = createPerformer({
    ...options,
    leases,
    onSettled(action, outcome) {
      counts[outcome.kind]++
      pace.count()
      options.onSettled?.(action, outcome)
      logOutcome(log, action, outcome)
    },
    onRepeated(waitMs) {
      due.expect(waitMs)
      hinted = true
      loop.wake()
      options.onRepeated?.()
    },
  })
  const places = createPlaces({
    concurrency,
    handlers: options.handlers,
    perform: performer.perform,
    pace: pace.perMs,
    onRoom: () => loop.wake(),
  })
  const isBrokered = () => options.brokered?.() ?? false
  let cursor = FIRST_LANE
  let stopping = false
  let sweepAt = 0
  /** There may be hints: somebody said so, or the last claim found some. */
  let hinted = true
  /** The last claim took every hint of an open lane there was. */
  let caughtUp = false
  let claimAt = 0

  const accept = (claimed: Claim, token: string, askedAt: number, over?: ReadonlyMap<string, () => void>) => {
    counts.claimed += claimed.actions.length
    if (claimed.actions.length === 0) return
    for (const action of claimed.actions) if (action.lagMs < 0) performer.readAhead(action)
    places.accept(claimed.actions, leases.take(token, claimed.actions, askedAt), over)
  }

  /** Takes all there is room for and returns how many hints were looked at. */
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
  const takesDue = () => caughtUp && !stopping && !isBrokered() && !places.isFull()

  /** Not at all where lanes take turns, or enough is held already. */
  const leadMs = () => (takesDue() && !places.isFullAhead() ? longestLeadMs : 0)

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

  /** Claims what messages named, many with one statement; answers each with what to wait for. */
  const claimNamed = async (ids: readonly string[]) => {
    const token = newId()
    let askedAt = 0
    const claimed = await whileAway(() => {
      if (stopping) throw new Error('The dispatcher is stopping.')
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
  const claimOffered = groupCommit<string, { readonly settled: Promise<void> } | null>(
    (ids) => {
      const claimed = claimNamed(ids)
      claiming.add(claimed)
      return claimed.finally(() => claiming.delete(claimed))
    },
    { maxItems: LARGEST_CLAIM, maxFlushes: CLAIMS_AT_ONCE },
  )

  const promote = (): Promise<number> =>
    due.look(async () => {
      const { promoted, nextInMs } = await promoteActions(db, PROMOTION)
      return promoted === PROMOTION ? 0 : nextInMs
    })

  const nextDueLookInMs = () => due.inMs() - leadMs() * LOOKED_AHEAD
  const nextLookInMs = () => Math.min(nextDueLookInMs(), claimAt - performance.now())
  const loop = createLoop({
    name: 'dispatcher',
    log,
    intervalMs: pollMs,
    async round() {
      if (isBrokered()) {
        // The net under the broker: one look, wide apart.
        if (performance.now() < sweepAt) return sweepAt - performance.now()
        sweepAt = performance.now() + (options.sweepMs ?? pollMs)
        hinted = true
      }
      for (;;) {
        let looked = 0
        if (nextDueLookInMs() <= 0) {
          if (takesDue()) looked = await claimDue()
          else {
            await promote()
            hinted = true
          }
        }
        const full = places.isFull()
        if (stopping || (full && places.urgentRoom() <= 0)) return nextLookInMs()
        if (full) looked += await claimOnce(places.urgentRoom(), true)
        else if (hinted || performance.now() >= claimAt) looked += await claim()
        if (looked === 0) return nextLookInMs()
        if (looked < LITTLE) await new Promise((resolve) => setTimeout(resolve, BREATH_MS))
      }
    },
  })

  return {
    counts,
    start() {
      leases.start()
      loop.start()
    },
    async stop(graceMs = DEFAULT_GRACE_MS) {
      stopping = true
      places.close()
      performer.close()
      await loop.stop()
      // What is just being claimed for a message is given back with the rest.
      await Promise.allSettled(claiming)
      const left = places.empty()
      const waiting = left.filter(({ lost }) => !lost.aborted)
      const finished = Promise.all([
        places.allFinished(),
        ...waiting.map(({ action }) => performer.release(action)),
      ]).finally(() => left.forEach(({ over }) => over?.()))
      if (!(await inTime(finished, graceMs))) {
        log.warn({ underWay: places.underWay }, 'no answer in time: conversations are cut short')
        options.cutShort?.()
        if (!(await inTime(finished, LAST_WORDS_MS)))
          log.warn({ underWay: places.underWay }, 'stopped before everything was settled; leases will run out')
      }
      await leases.stop()
    },
    async adopt(token, actions, askedAt, signal) {
      leases.start()
      counts.claimed += actions.length
      const lost = AbortSignal.any([leases.take(token, actions, askedAt), signal])
      await Promise.all(actions.map((action) => places.begin(action, lost)))
    },
    async offer(actionId) {
      if (stopping) throw new Error('The dispatcher is stopping.')
      await (
        await claimOffered(actionId)
      )?.settled
    },
    async drain(signal) {
      leases.start()
      due.expect()
      try {
        for (;;) {
          // What ends while we look may have made something due that this look could not see yet.
          const idle = places.underWay === 0
          const dueInMs = await promote()
          const looked = places.room() > 0 && !signal?.aborted ? await claim() : 0
          if (places.underWay > 0) await places.nextFinish()
          else if (signal?.aborted || (idle && looked === 0 && dueInMs > SOON_MS)) break
          else if (idle && looked === 0 && dueInMs > 0) await new Promise((resolve) => setTimeout(resolve, dueInMs))
        }
      } finally {
        await leases.stop()
      }
    },
    wake(later = true) {
      hinted = true
      if (later) due.expect()
      loop.wake()
    },
  }
}
