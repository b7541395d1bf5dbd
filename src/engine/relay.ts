import type { Broker, Hint, Rank } from '../brokers/broker.js'
import { FIRST_LANE } from '../db/claim-actions.js'
import type { Database } from '../db/client.js'
import { listOldHints } from '../db/list-old-hints.js'
import { markPublished } from '../db/mark-published.js'
import { promoteActions } from '../db/promote-actions.js'
import type { Publishable } from '../db/publishable.js'
import { type Requeueing, requeueHints } from '../db/requeue-hints.js'
import { returnHints, returnOldHints } from '../db/return-hints.js'
import { markFailuresTold, takeFailures } from '../db/take-failures.js'
import { takeForPublishing } from '../db/take-for-publishing.js'
import { takeSoonDue } from '../db/take-soon-due.js'
import { BULK_LANE } from '../domain/lane.js'
import type { Log } from '../log.js'
import { createLoop, type Loop } from './loop.js'

/**
 * Relays hints from the database to a broker: what is due, fairly, and what falls due soon; and sweeps, when it starts and
 * every few seconds, for hints that were lost. Any number of relays may run. The broker may go away at any moment: what
 * it has not confirmed goes back, and while it is away workers look for themselves.
 */
export interface Relay {
  start(): void
  stop(): Promise<void>
  /** Something is due now; or in so many milliseconds. */
  wake(inMs?: number): void
  /** An action failed for good: tell the broker soon, if it has a place for that. */
  onFailed(): void
  /** Whether workers can leave it to the broker to be told of what is due. */
  carries(): boolean
  /** One sweep and one round of publishing, for tests. */
  runOnce(): Promise<void>
}

export interface RelayOptions {
  readonly db: Database
  readonly broker: Broker
  /** How an action is called at the broker. */
  readonly jobIdOf: (action: Publishable) => string
  readonly log: Log
  readonly sweepMs: number
  readonly onPublished?: (hints: number) => void
  readonly onSwept?: (swept: Swept) => void
  /** The broker came or went: whoever waits for it should look for himself, or stop doing so. */
  readonly onChanged?: () => void
}

/** What a sweep published again. */
export interface Swept {
  /** The broker had them and has them no more: so many at least. */
  readonly lost: number
  /** Given to a worker that has not claimed them, or lost as well: as many as may be with workers. */
  readonly unclaimed: number
  /** Taken by a relay that has not said that they are published. */
  readonly unpublished: number
}

const BATCH = 500
/** What a broker holds at the most: enough for a fleet between two rounds, few enough to stay fair and small. */
const MOST_DUE = 2_000
const MOST_URGENT = 1_000
const MOST_SOON = 2_000
const FULL_PAUSE_MS = 25
/** What comes in the next moments shares a publication. */
const LITTLE = 50
const BREATH_MS = 5
/** A hint younger than this is on its way, not lost. */
const YOUNGEST_LOST_MS = 2_000
const AWAY_LOOK_MS = 500
const CONNECT_LOOK_MS = 20
const CONNECT_MS = 1_000
const FAILURES = 500

export function createRelay(options: RelayOptions): Relay {
  const { db, broker, jobIdOf, log, sweepMs } = options
  const lostAfterMs = Math.max(sweepMs, YOUNGEST_LOST_MS)
  let cursor = FIRST_LANE
  let aheadAt = 0
  let sweepAt = 0
  let failuresAt = 0
  let away = false
  /** It answers, but did not take what was given to it: it is believed again when it does. */
  let refusing = false
  let patientUntil = Number.POSITIVE_INFINITY

  const change = (nowAway: boolean, error?: unknown) => {
    if (away === nowAway) return
    away = nowAway
    if (away) log.warn({ broker: broker.name, err: error }, 'the broker is away; workers look for themselves')
    else log.info({ broker: broker.name }, 'the broker is back')
    options.onChanged?.()
  }

  const publish = async (actions: readonly Publishable[]): Promise<boolean> => {
    if (actions.length === 0) return true
    const hints = actions.map((action) => toHint(action, jobIdOf(action)))
    try {
      await broker.publish(hints)
    } catch (error) {
      refusing = true
      change(true, error)
      const ids = hints.map(({ actionId }) => actionId)
      const returned = await returnHints(db, ids)
      log.warn({ broker: broker.name, hints: hints.length, returned }, 'hints not published')
      return false
    }
    refusing = false
    change(false)
    await markPublished(db, hints)
    options.onPublished?.(hints.length)
    if (log.isLevelEnabled('debug'))
      log.debug({ broker: broker.name, jobs: hints.map(({ jobId, delayMs }) => ({ jobId, delayMs })) }, 'published')
    return true
  }

  /** Finds what was lost, until there is no more of it. */
  const sweep = async (): Promise<boolean> => {
    const sum = { unpublished: 0, lost: 0, unclaimed: 0, stale: 0 }
    for (;;) {
      const old = broker.findMissing && (await listOldHints(db, lostAfterMs))
      const asked = performance.now()
      let known: Requeueing['known']
      let given = 0
      try {
        if (old) known = { missing: await broker.findMissing(old) }
        else {
          const held = await broker.countHeld()
          given = await broker.countGiven()
          known = { held, askedMs: performance.now() - asked }
        }
      } catch (error) {
        change(true, error)
        return false
      }
      const found = await requeueHints(db, { afterMs: lostAfterMs, known, limit: BATCH })
      const unclaimed = Math.min(found.missing, Math.max(0, given - sum.unclaimed))
      sum.unpublished += found.unpublished
      sum.unclaimed += unclaimed
      sum.lost += found.missing - unclaimed
      sum.stale += found.stale
      if (!(await publish(found.actions))) return false
      if (found.missing < BATCH && found.unpublished < BATCH) break
    }
    options.onSwept?.(sum)
    if (sum.lost > 0) log.warn({ broker: broker.name, ...sum }, 'the broker had lost hints; published again')
    else if (sum.unpublished + sum.unclaimed + sum.stale > 0) log.info({ broker: broker.name, ...sum }, 'hints swept')
    if (!refusing) change(false)
    return true
  }

  /** What has fallen due gets its hint, and what falls due soon is published ahead. */
  const lookAhead = async (): Promise<boolean> => {
    const { promoted, nextInMs } = await promoteActions(db, BATCH, { unpublished: true })
    let wait = promoted === BATCH ? 0 : (nextInMs ?? Number.POSITIVE_INFINITY)
    aheadAt = performance.now() + wait
    if (broker.horizonMs === 0) return true
    const soon = await takeSoonDue(db, MOST_SOON, broker.horizonMs)
    // What is within the horizon is taken now; the next look is for what is not.
    if (promoted < BATCH) wait = Math.max(0, soon.nextInMs ?? Number.POSITIVE_INFINITY)
    aheadAt = performance.now() + wait
    return publish(soon.actions)
  }

  const tellFailures = async (): Promise<boolean> => {
    if (!broker.announceFailures) return true
    for (;;) {
      const failures = await takeFailures(db, FAILURES, lostAfterMs)
      if (failures.length === 0) return true
      try {
        await broker.announceFailures(failures.map(toEvent))
      } catch (error) {
        change(true, error)
        return false
      }
      await markFailuresTold(
        db,
        failures.map(({ id }) => id),
      )
      log.info({ broker: broker.name, failures: failures.length }, 'dead letters sent')
    }
  }

  /** Publishes what is due. Returns how soon to look again. */
  const relay = async (): Promise<number> => {
    for (;;) {
      const taken = await takeForPublishing(db, { limit: BATCH, most: MOST_DUE, urgent: MOST_URGENT, cursor })
      cursor = taken.cursor
      if (!(await publish(taken.actions))) return AWAY_LOOK_MS
      if (taken.full) return FULL_PAUSE_MS
      if (taken.looked === 0) return sweepMs
      if (taken.looked < LITTLE) await new Promise((resolve) => setTimeout(resolve, BREATH_MS))
    }
  }

  const round = async (): Promise<number> => {
    if (!broker.isUp()) {
      // The first moments are not worth a warning: everybody needs some to connect.
      if (performance.now() < patientUntil) return CONNECT_LOOK_MS
      change(true)
      // What it did not take was lost with the connection: when it is back, it need not take something to be believed.
      refusing = false
      // Nobody will be told of these while it is away. Should it be away for this process only, those it still tells
      // others of are not that old.
      const returned = await returnOldHints(db, lostAfterMs)
      if (returned > 0) log.info({ broker: broker.name, returned }, 'hints taken back')
      return AWAY_LOOK_MS
    }
    patientUntil = 0
    if (away || performance.now() >= sweepAt) {
      if (!(await sweep())) return AWAY_LOOK_MS
      sweepAt = performance.now() + sweepMs
      // Everything is looked at with the sweep, so that a relay with nothing to do wakes up for it and for nothing else.
      aheadAt = 0
      failuresAt = 0
    }
    if (performance.now() >= failuresAt) {
      if (!(await tellFailures())) return AWAY_LOOK_MS
      failuresAt = Number.POSITIVE_INFINITY
    }
    if (performance.now() >= aheadAt && !(await lookAhead())) return AWAY_LOOK_MS
    const wanted = await relay()
    return Math.min(wanted, aheadAt - performance.now(), sweepAt - performance.now())
  }

  const loop: Loop = createLoop({ name: 'relay', log, intervalMs: sweepMs, round })

  return {
    start() {
      patientUntil = performance.now() + CONNECT_MS
      loop.start()
    },
    stop: () => loop.stop(),
    wake(inMs = 0) {
      aheadAt = Math.min(aheadAt, performance.now() + inMs)
      loop.wake()
    },
    onFailed() {
      failuresAt = 0
      loop.wake()
    },
    carries: () => !away && broker.isUp(),
    async runOnce() {
      aheadAt = 0
      sweepAt = 0
      await round()
    },
  }
}

const rankOf = ({ type, priority }: Publishable): Rank => (priority < BULK_LANE.priority ? 0 : type === 'send' ? 2 : 1)

const toHint = (action: Publishable, jobId: string): Hint => ({
  actionId: action.id,
  key: action.dedupeKey,
  jobId,
  type: action.type,
  rank: rankOf(action),
  delayMs: action.delayMs,
})

const toEvent = (failure: Awaited<ReturnType<typeof takeFailures>>[number]) => ({
  event: 'action.failed' as const,
  actionId: failure.id,
  workspaceId: failure.workspaceId,
  key: failure.dedupeKey,
  type: failure.type,
  attempts: failure.attempts,
  reason: failure.reasonCode,
  failedAt: failure.failedAt.toISOString(),
})
