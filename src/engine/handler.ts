import type { Sql } from '../db/client.js'
import type { LeasedAction, Reason, Seen } from '../domain/action.js'
import type { RetryPolicyName } from '../domain/retry.js'

/** What a handler says about an action. How long a retry waits is the policy's business unless the handler knows better. */
export type HandlerOutcome = (
  | { readonly kind: 'done' }
  | {
      readonly kind: 'retry'
      readonly reason: Reason
      readonly waitMs?: number
      readonly counts?: boolean
      /** Failures before this one that moved the schedule without counting as attempts. */
      readonly uncounted?: number
    }
  | { readonly kind: 'failed'; readonly reason: Reason }
  | { readonly kind: 'skipped'; readonly reason: Reason }
  | { readonly kind: 'uncertain'; readonly reason: Reason }
  | { readonly kind: 'release'; readonly waitMs?: number }
) &
  Seen

/** An action whose whole effect is in this database. Effect and completion are one transaction. */
export interface EffectHandler {
  readonly kind: 'effect'
  readonly retryPolicy: RetryPolicyName
  /**
   * Anything but `done` (or nothing) and `again` rolls back what was written through `tx`. `again` commits it, and the
   * same action is due once more after a while.
   */
  apply(action: LeasedAction, tx: Sql): Promise<HandlerOutcome | Again | void>
}

/** An action that hands something over to the outside, where no transaction reaches. */
export interface HandOverHandler {
  readonly kind: 'hand-over'
  readonly retryPolicy: RetryPolicyName
  handOver(action: LeasedAction, grip: Grip): Promise<HandlerOutcome>
  /** Its time comes in a moment. Nothing may happen that could be seen from outside, and it may never be handed over. */
  readAhead?(action: LeasedAction): void
}

export interface Again {
  readonly kind: 'again'
  readonly waitMs: number
}

export type Handler = EffectHandler | HandOverHandler

export type Handlers = Readonly<Record<string, Handler>>

/** A worker's hold on one action. */
export interface Grip {
  /**
   * Commits the decision to hand over. Only after `true` may the byte that cannot be taken back leave; on `false`
   * return `release`. Committed together with whoever else arms at the same moment.
   */
  arm(): Promise<boolean>
  /** Ask once more right before that byte: false when this process was frozen past the end of its lease. */
  holds(): boolean
  /** Aborted when the lease is lost or the worker stops; of no meaning once armed. */
  readonly signal: AbortSignal
}
