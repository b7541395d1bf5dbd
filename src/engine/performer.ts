import { setMaxListeners } from 'node:events'
import { armActions } from '../db/arm-actions.js'
import { type Database, isDatabaseUnavailable } from '../db/client.js'
import { completeAction, repeatAction } from '../db/complete-action.js'
import { settleActions } from '../db/settle-actions.js'
import type { Held, LeasedAction, Outcome, Settlement } from '../domain/action.js'
import { decideRetry, type RetryPolicies, type RetryPolicyName } from '../domain/retry.js'
import type { Log } from '../log.js'
import { groupCommit } from '../group-commit.js'
import type { EffectHandler, HandlerOutcome, Handlers, HandOverHandler } from './handler.js'
import type { LeaseKeeper } from './lease-keeper.js'
import type { OutcomeNotes } from './outcome-notes.js'
import { whileAway } from './while-away.js'

/**
 * Carries out one action that this worker holds: runs its handler, arms it when the handler asks, decides what a failure
 * leads to, and settles. Whatever happens, exactly one outcome is written per claim, or none if the lease was lost.
 */
export interface Performer {
  perform(action: LeasedAction, lost: AbortSignal): Promise<void>
  /** It will be performed in a moment, when its time has come: what can be read for it now may be. */
  readAhead(action: LeasedAction): void
  /** Gives an action back untouched. */
  release(action: LeasedAction): Promise<void>
  /** From now on nothing is armed any more. */
  close(): void
}

export interface PerformerOptions {
  readonly db: Database
  readonly handlers: Handlers
  readonly policies: RetryPolicies
  readonly leases: LeaseKeeper
  readonly log: Log
  /** Keeps what is known about a hand-over while the database cannot be told. */
  readonly notes?: OutcomeNotes
  readonly onSettled: (action: LeasedAction, outcome: Outcome) => void
  /** An effect was committed that comes again after so many milliseconds. What it scheduled may be due already. */
  readonly onRepeated?: (waitMs: number) => void
}

const GROUP = 1_000
/** Two, so that the next group travels while one is being committed; more would only make the groups smaller. */
const FLUSHES = 2
/**
 * At half load the emails of one claim come to their arm, and to their outcome, a few at a time. Without a rest each few
 * would have a statement and a commit of their own, a tenth of all that a machine does then; an email waits for half of it
 * on average.
 */
const REST_MS = 4
/** A worker of an older version may meet a type it does not know yet. It leaves it for one that does. */
const UNKNOWN_TYPE_WAIT_MS = 5_000

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

export function createPerformer(options: PerformerOptions): Performer {
  const { db, handlers, policies, leases, log, notes, onSettled } = options
  const closing = new AbortController()

  // Combining signals is dearer than everything else done for an action, and all actions of a lease have the same.
  const combined = new WeakMap<AbortSignal, AbortSignal>()
  const signalOf = (lost: AbortSignal) => {
    const known = combined.get(lost)
    if (known) return known
    const made = AbortSignal.any([lost, closing.signal])
    // As many listen as are under way; that is no leak.
    setMaxListeners(0, made)
    combined.set(lost, made)
    return made
  }

  const arm = groupCommit<LeasedAction, boolean>((actions) => writeOnce(actions, (group) => armActions(db, group)), {
    maxItems: GROUP,
    maxFlushes: FLUSHES,
    restMs: REST_MS,
  })

  const settleGroup = (items: Settlement[]) => writeOnce(items, (group) => settleActions(db, group))
  const settle = groupCommit<Settlement, boolean>(
    async (items) => {
      try {
        return await settleGroup(items)
      } catch (error) {
        if (items.length === 1 || isDatabaseUnavailable(error)) throw error
        // One outcome the database refuses must not keep its neighbours from being written.
        return (await Promise.allSettled(items.map((item) => settleGroup([item])))).map(
          (result) => result.status === 'fulfilled' && result.value[0] === true,
        )
      }
    },
    { maxItems: GROUP, maxFlushes: FLUSHES, restMs: REST_MS },
  )

  const record = async (action: LeasedAction, outcome: Outcome): Promise<boolean> => {
    const settlement = { id: action.id, leaseToken: action.leaseToken, outcome }
    try {
      let written: boolean
      try {
        written = await settle(settlement)
      } catch (error) {
        if (!isDatabaseUnavailable(error)) throw error
        // What is known about a hand-over must not be lost: it is noted here, and told as soon as there is somebody to tell.
        if (outcome.attempt) notes?.write({ actionId: action.id, token: action.leaseToken, outcome })
        written = await whileAway(() => settle(settlement))
      }
      notes?.remove(action.id)
      if (written) onSettled(action, outcome)
      else log.warn({ action: action.id, outcome: outcome.kind }, 'outcome not written: the lease was lost')
      return written
    } catch (error) {
      log.error({ action: action.id, outcome: outcome.kind, err: error }, 'outcome refused by the database')
      return false
    }
  }

  const decide = (action: LeasedAction, outcome: HandlerOutcome, fallback: RetryPolicyName): Outcome => {
    if (outcome.kind !== 'retry') return outcome
    const { reason, uncounted = 0, counts = true, ...rest } = outcome
    if (outcome.waitMs !== undefined && !counts) return { ...rest, reason, counts, waitMs: outcome.waitMs }
    const policy = policies[(action.retryPolicy ?? fallback) as RetryPolicyName] ?? policies[fallback]
    const failures = { attempts: action.attempts + (counts ? 1 : 0), uncounted }
    const decision = decideRetry(policy, failures, Math.random())
    if (!decision.retry) return { ...rest, kind: 'failed', reason: { code: 'attempts_exhausted', text: reason.text } }
    return { ...rest, reason, counts, waitMs: outcome.waitMs ?? decision.waitMs }
  }

  const apply = async (action: LeasedAction, handler: EffectHandler): Promise<Outcome | null> => {
    try {
      const again = await db.transaction(async (tx) => {
        if (!(await completeAction(tx, action))) throw new NotDone({ kind: 'release' })
        const outcome = (await handler.apply(action, tx)) ?? { kind: 'done' as const }
        if (outcome.kind === 'done') return null
        if (outcome.kind !== 'again') throw new NotDone(outcome)
        await repeatAction(tx, action.id, outcome.waitMs)
        return outcome
      })
      if (again) options.onRepeated?.(again.waitMs)
      return null
    } catch (error) {
      if (error instanceof NotDone) return decide(action, error.outcome, handler.retryPolicy)
      // Whether the commit arrived is not known; if it did, this outcome finds the action done and writes nothing.
      if (isDatabaseUnavailable(error)) return { kind: 'release' }
      log.warn({ action: action.id, type: action.type, err: error }, 'handler failed')
      return decide(
        action,
        { kind: 'retry', reason: { code: 'handler_error', text: messageOf(error) } },
        handler.retryPolicy,
      )
    }
  }

  const handOver = async (action: LeasedAction, handler: HandOverHandler, lost: AbortSignal): Promise<Outcome> => {
    let armed = false
    const grip = {
      get signal() {
        return signalOf(lost)
      },
      holds: () => leases.holds(action.leaseToken),
      arm: async () => {
        if (closing.signal.aborted || !grip.holds()) return false
        try {
          return (armed = (await arm(action)) && grip.holds())
        } catch (error) {
          // An arm whose answer is lost may have been committed. Nothing is handed over then, and `release` says so.
          log.warn({ action: action.id, err: error }, 'arming failed; nothing was handed over')
          return false
        }
      },
    }
    try {
      const outcome = await handler.handOver(action, grip)
      if (outcome.kind === 'done' && !armed)
        throw new Error(`The handler of "${action.type}" reported done without arming.`)
      return decide(action, outcome, handler.retryPolicy)
    } catch (error) {
      log.warn({ action: action.id, type: action.type, armed, err: error }, 'handler failed')
      const text = messageOf(error)
      // After arming, an error says nothing about what left the building.
      if (armed) return { kind: 'uncertain', reason: { code: 'handler_error', text } }
      return decide(action, { kind: 'retry', reason: { code: 'handler_error', text } }, handler.retryPolicy)
    }
  }

  const run = (action: LeasedAction, lost: AbortSignal): Promise<Outcome | null> => {
    const handler = handlers[action.type]
    if (!handler) {
      log.warn({ action: action.id, type: action.type }, 'no handler for this type; left for another worker')
      return Promise.resolve({ kind: 'release', waitMs: UNKNOWN_TYPE_WAIT_MS })
    }
    return handler.kind === 'effect' ? apply(action, handler) : handOver(action, handler, lost)
  }

  const finish = async (action: LeasedAction, outcome: Outcome | null) => {
    // No outcome: an effect that was committed together with its completion.
    if (!outcome) onSettled(action, { kind: 'done' })
    leases.letGo(action.leaseToken, action.id, outcome ? await record(action, outcome) : true)
  }

  return {
    perform: async (action, lost) => finish(action, await run(action, lost)),
    readAhead(action) {
      const handler = handlers[action.type]
      if (handler?.kind === 'hand-over') handler.readAhead?.(action)
    },
    release: (action) => finish(action, { kind: 'release' }),
    close: () => closing.abort(),
  }
}

class NotDone extends Error {
  readonly outcome: HandlerOutcome

  constructor(outcome: HandlerOutcome) {
    super('not done')
    this.outcome = outcome
  }
}

/**
 * A statement writes each action once. One that this worker lost and claimed again may be asked for twice, under its old
 * and under its new token; whoever comes second is asked for after the first.
 */
async function writeOnce<Item extends Held>(
  items: readonly Item[],
  write: (items: Item[]) => Promise<ReadonlySet<string>>,
): Promise<boolean[]> {
  const first = new Map<string, Item>()
  const again: Item[] = []
  for (const item of items)
    if (first.has(item.id)) again.push(item)
    else first.set(item.id, item)
  const written = await write([...first.values()])
  const writtenAgain = again.length > 0 ? await writeOnce(again, write) : []
  return items.map((item) => (first.get(item.id) === item ? written.has(item.id) : writtenAgain[again.indexOf(item)]!))
}
