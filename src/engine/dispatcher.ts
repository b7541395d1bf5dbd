import { FIRST_LANE, claimActions } from '../db/claim-actions.js'
import type { Database } from '../db/client.js'
import { promoteActions } from '../db/promote-actions.js'
import type { LeasedAction, Outcome } from '../domain/action.js'
import { BULK_LANE } from '../domain/lane.js'
import type { RetryPolicies } from '../domain/retry.js'
import { newId } from '../id.js'
import type { Log } from '../log.js'
import type { Handlers } from './handler.js'
import { createLeaseKeeper } from './lease-keeper.js'
import { createLoop } from './loop.js'
import type { OutcomeNotes } from './outcome-notes.js'
import { createPerformer } from './performer.js'

/**
 * Claims what is due and has it performed, as much at a time as this worker can use soon. It holds nothing that
 * matters: whatever it has claimed and not armed goes back when it stops, and comes back by itself when it dies.
 */
export interface Dispatcher {
  /** Once; a stopped dispatcher stays stopped. */
  start(): void
  /**
   * Claims nothing more, gives back what was not begun, and waits for what is under way; what is still under way after
   * `graceMs` is left to its lease.
   */
  stop(graceMs?: number): Promise<void>
  /** Works until nothing is due or `signal` says enough; for ticks and tests. */
  drain(signal?: AbortSignal): Promise<void>
  /**
   * Carries out actions that were inserted already leased to this process under one token, beside its own work.
   * Resolves when they are settled. `signal` ends what is not armed yet.
   */
  adopt(token: string, actions: readonly LeasedAction[], askedAt: number, signal: AbortSignal): Promise<void>
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
  readonly onSettled?: (action: LeasedAction, outcome: Outcome) => void
  /** An effect that comes again was committed, and may have made others due: whoever else works should hear of it. */
  readonly onRepeated?: () => void
}

/** A claim's size: large enough to share its commit among many, small enough that a round of all lanes is short. */
const LARGEST_CLAIM = 1_000
/** How much work ahead to hold, in time. More would keep it from other workers and make a pause or a single email wait. */
const AHEAD_MS = 100
/** Claims skip each other's rows, so a worker with room for several batches need not wait for one after the other. */
const CLAIMS_AT_ONCE = 2
/**
 * After a claim that found little, what falls due in the next moments shares the cost of the next: a claim, a lease and a
 * commit each for three emails at a time would keep the database busy with nothing else.
 */
const LITTLE = 50
const BREATH_MS = 5
const PROMOTION = 1_000
/** One place in so many is kept free of bulk: a single email must not wait until a campaign's conversations are over. */
const RESERVED_SHARE = 10
const DEFAULT_GRACE_MS = 30_000
/** What falls due within this is waited for: a campaign looks once more, a moment later, whether all has gone out. */
const SOON_MS = 300

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { db, log, worker, concurrency, leaseMs } = options
  const counts = { claimed: 0, done: 0, retry: 0, failed: 0, skipped: 0, uncertain: 0, release: 0 }
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
      promoteAt = Math.min(promoteAt, performance.now() + waitMs)
      loop.wake()
      options.onRepeated?.()
    },
  })
  const queue: { action: LeasedAction; lost: AbortSignal }[] = []
  const reserved = concurrency > 1 ? Math.ceil(concurrency / RESERVED_SHARE) : 0
  let underWay = 0
  let bulkUnderWay = 0
  let waitingForFinish: (() => void)[] = []
  let roomAnnounced = false
  let cursor = FIRST_LANE
  let stopping = false
  let promoteAt = 0

  const ahead = () => Math.min(LARGEST_CLAIM, Math.max(concurrency, Math.ceil(pace.perMs() * AHEAD_MS)))
  const room = () => concurrency + ahead() - queue.length - underWay

  /** Effects are short and need no place on a wire: they go before the hand-overs of their lane, and a batch is no bulk. */
  const rankOf = ({ type, priority }: LeasedAction) => priority - (options.handlers[type]?.kind === 'effect' ? 0.5 : 0)
  const isBulk = (action: LeasedAction) => rankOf(action) >= BULK_LANE.priority
  /** How many more single emails to take although bulk has left no room. */
  const urgentRoom = () =>
    concurrency - (underWay - bulkUnderWay) - queue.filter(({ action }) => !isBulk(action)).length

  const perform = () => {
    while (!stopping && underWay < concurrency && queue.length > 0) {
      // The queue is in the order of ranks: behind the first bulk there is nothing else.
      const bulk = isBulk(queue[0]!.action)
      if (bulk && bulkUnderWay >= concurrency - reserved) return
      const { action, lost } = queue.shift()!
      // A lease lost while it waited here: somebody else has it by now.
      if (lost.aborted) continue
      underWay++
      if (bulk) bulkUnderWay++
      void performer.perform(action, lost).then(() => {
        if (bulk) bulkUnderWay--
        finish()
      })
    }
  }

  const finish = () => {
    underWay--
    perform()
    const waiting = waitingForFinish
    waitingForFinish = []
    for (const resolve of waiting) resolve()
    announceRoom()
  }

  /** A group settles together; the loop hears of it once. */
  const announceRoom = () => {
    if (roomAnnounced || room() < ahead() / 2) return
    roomAnnounced = true
    setImmediate(() => {
      roomAnnounced = false
      loop.wake()
    })
  }

  const nextFinish = () => new Promise<void>((resolve) => waitingForFinish.push(resolve))
  const allFinished = async () => {
    while (underWay > 0) await nextFinish()
  }

  const accept = (actions: readonly LeasedAction[], lost: AbortSignal) => {
    counts.claimed += actions.length
    queue.push(...actions.map((action) => ({ action, lost })))
    // Stable, so that what was due first goes first among equals.
    queue.sort((a, b) => rankOf(a.action) - rankOf(b.action))
  }

  /** Takes all there is room for and returns how many hints were looked at. */
  const claim = async (): Promise<number> => {
    const size = Math.min(room(), LARGEST_CLAIM)
    const claims = Math.min(Math.ceil(room() / size), db.embedded ? 1 : CLAIMS_AT_ONCE)
    const looked = await Promise.all(Array.from({ length: claims }, () => claimOnce(size)))
    return looked.reduce((sum, count) => sum + count, 0)
  }

  /** `urgent`: of single emails only, without moving the turn of those who wait. */
  const claimOnce = async (limit: number, urgent = false): Promise<number> => {
    const token = newId()
    const askedAt = performance.now()
    const only = urgent ? { mostPriority: BULK_LANE.priority - 1 } : {}
    const claimed = await claimActions(db, { token, worker, limit, leaseMs, cursor, ...only })
    if (!urgent) cursor = claimed.cursor
    if (claimed.early > 0) promoteAt = 0
    if (claimed.canceled + claimed.expired > 0)
      log.info({ canceled: claimed.canceled, expired: claimed.expired }, 'due actions were over before they began')
    if (claimed.actions.length > 0) {
      log.debug({ token, actions: claimed.actions.length, looked: claimed.looked }, 'claimed')
      accept(claimed.actions, leases.take(token, claimed.actions, askedAt))
      perform()
    }
    return claimed.looked
  }

  /** Returns in how many milliseconds something falls due. */
  const promote = async (): Promise<number> => {
    const { promoted, nextInMs } = await promoteActions(db, PROMOTION)
    const wait = promoted === PROMOTION ? 0 : (nextInMs ?? Number.POSITIVE_INFINITY)
    promoteAt = performance.now() + Math.min(wait, pollMs)
    return wait
  }

  const pollMs = options.pollMs ?? 1_000
  const loop = createLoop({
    name: 'dispatcher',
    log,
    intervalMs: pollMs,
    async round() {
      for (;;) {
        const dueInMs = performance.now() >= promoteAt ? await promote() : promoteAt - performance.now()
        const full = room() < ahead() / 2
        if (stopping || (full && urgentRoom() <= 0)) return dueInMs
        const looked = await (full ? claimOnce(urgentRoom(), true) : claim())
        if (looked === 0) return dueInMs
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
      performer.close()
      await loop.stop()
      const waiting = queue.splice(0).filter(({ lost }) => !lost.aborted)
      const finished = Promise.all([allFinished(), ...waiting.map(({ action }) => performer.release(action))])
      if (!(await within(finished, graceMs)))
        log.warn({ underWay }, 'stopped before everything was settled; leases will run out')
      await leases.stop()
    },
    async adopt(token, actions, askedAt, signal) {
      leases.start()
      counts.claimed += actions.length
      underWay += actions.length
      const lost = AbortSignal.any([leases.take(token, actions, askedAt), signal])
      await Promise.all(actions.map((action) => performer.perform(action, lost).then(finish)))
    },
    async drain(signal) {
      leases.start()
      promoteAt = 0
      try {
        for (;;) {
          // What ends while we look may have made something due that this look could not see yet.
          const idle = underWay === 0
          const dueInMs = await promote()
          const looked = room() > 0 && !signal?.aborted ? await claim() : 0
          if (underWay > 0) await nextFinish()
          else if (signal?.aborted || (idle && looked === 0 && dueInMs > SOON_MS)) break
          else if (idle && looked === 0 && dueInMs > 0) await new Promise((resolve) => setTimeout(resolve, dueInMs))
        }
      } finally {
        await leases.stop()
      }
    },
    wake(later = true) {
      if (later) promoteAt = 0
      loop.wake()
    },
  }
}

async function within(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), ms)))
  const inTime = await Promise.race([work.then(() => true), late])
  clearTimeout(timer)
  return inTime
}

/** How many actions were settled per millisecond lately. */
function createPaceMeter() {
  const WINDOW_MS = 500
  let since = performance.now()
  let settled = 0
  let rate = 0
  return {
    count: () => void settled++,
    perMs() {
      const elapsed = performance.now() - since
      if (elapsed >= WINDOW_MS) {
        rate = settled / elapsed
        since = performance.now()
        settled = 0
      }
      return rate
    },
  }
}

function logOutcome(log: Log, action: LeasedAction, outcome: Outcome): void {
  const about = { action: action.id, type: action.type, attempt: action.attempts + 1 }
  switch (outcome.kind) {
    case 'done':
    case 'release':
      return log.debug(about, outcome.kind)
    case 'retry':
      return log.info({ ...about, waitMs: outcome.waitMs, reason: outcome.reason.code }, 'retry scheduled')
    case 'skipped':
      return log.info({ ...about, reason: outcome.reason.code }, 'skipped')
    case 'failed':
    case 'uncertain':
      // What a mail server says often repeats whom or what it refuses: that is kept with the attempt, not in a log.
      return log.warn(
        { ...about, reason: outcome.reason.code, ...(!outcome.attempt && { detail: outcome.reason.text }) },
        outcome.kind,
      )
  }
}
