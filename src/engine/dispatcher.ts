import type { Database } from '../db/client.js'
import type { LeasedAction, Outcome } from '../domain/action.js'
import type { RetryPolicies } from '../domain/retry.js'
import { inTime } from '../in-time.js'
import type { Log } from '../log.js'
import { createClaimer } from './claimer.js'
import type { Handlers } from './handler.js'
import { createLeaseKeeper } from './lease-keeper.js'
import { logOutcome } from './log-outcome.js'
import { createLoop } from './loop.js'
import type { OutcomeNotes } from './outcome-notes.js'
import { createPaceMeter } from './pace-meter.js'
import { createPerformer } from './performer.js'
import { createPlaces } from './places.js'

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

/**
 * After a claim that found little, what falls due in the next moments shares the cost of the next: a claim, a lease and a
 * commit each for three emails at a time would keep the database busy with nothing else.
 */
const LITTLE = 50
const BREATH_MS = 5
const LEAD_MS = 100
/** Shorter than the half minute after which most who ask a process to stop kill it. */
const DEFAULT_GRACE_MS = 20_000
/** Enough to write down what became of what was cut short. */
const LAST_WORDS_MS = 5_000
/** What falls due within this is waited for: a campaign looks once more, a moment later, whether all has gone out. */
const SOON_MS = 300

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { db, log, concurrency, leaseMs } = options
  const counts = { claimed: 0, done: 0, retry: 0, failed: 0, skipped: 0, uncertain: 0, release: 0 }
  const pollMs = options.pollMs ?? 1_000
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
      claimer.expectDue(waitMs)
      claimer.expectHints()
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
  const claimer = createClaimer({
    ...options,
    places,
    pollMs,
    leadMs: options.leadMs ?? LEAD_MS,
    isBrokered,
    accept(claimed, token, askedAt, over) {
      counts.claimed += claimed.actions.length
      if (claimed.actions.length === 0) return
      for (const action of claimed.actions) if (action.lagMs < 0) performer.readAhead(action)
      places.accept(claimed.actions, leases.take(token, claimed.actions, askedAt), over)
    },
  })
  let sweepAt = 0

  const loop = createLoop({
    name: 'dispatcher',
    log,
    intervalMs: pollMs,
    async round() {
      if (isBrokered()) {
        // The net under the broker: one look, wide apart.
        if (performance.now() < sweepAt) return sweepAt - performance.now()
        sweepAt = performance.now() + (options.sweepMs ?? pollMs)
        claimer.expectHints()
      }
      for (;;) {
        const looked = await claimer.look()
        if (looked === 0) return claimer.nextLookInMs()
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
      claimer.close()
      places.close()
      performer.close()
      await loop.stop()
      // What is just being claimed for a message is given back with the rest.
      await claimer.allClaimed()
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
      const claimed = await claimer.claimNamed(actionId)
      await claimed?.settled
    },
    async drain(signal) {
      leases.start()
      claimer.expectDue()
      try {
        for (;;) {
          // What ends while we look may have made something due that this look could not see yet.
          const idle = places.underWay === 0
          const dueInMs = await claimer.promote()
          const looked = places.room() > 0 && !signal?.aborted ? await claimer.claim() : 0
          if (places.underWay > 0) await places.nextFinish()
          else if (signal?.aborted || (idle && looked === 0 && dueInMs > SOON_MS)) break
          else if (idle && looked === 0 && dueInMs > 0) await new Promise((resolve) => setTimeout(resolve, dueInMs))
        }
      } finally {
        await leases.stop()
      }
    },
    wake(later = true) {
      claimer.expectHints()
      if (later) claimer.expectDue()
      loop.wake()
    },
  }
}
