import type { Attempt } from './attempt.js'
import type { ActionState } from './states.js'

/** JSON as the database keeps it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** What somebody asks for: something due at a time, once. */
export interface NewAction {
  readonly type: string
  readonly laneId: string
  /** Unique per workspace, for as long as the row is kept. Scheduling the same key again returns the first action. */
  readonly dedupeKey: string
  /** Absent: due now, by the database's clock. */
  readonly runAt?: Date
  /** Never carried out later than this. */
  readonly expiresAt?: Date
  readonly payload?: Json
  /** Absent: the policy of the handler of its type. */
  readonly retryPolicy?: string
  readonly enrollmentId?: string
  readonly nodeId?: string
}

export interface Action {
  readonly id: string
  readonly workspaceId: string
  readonly laneId: string
  readonly type: string
  readonly dedupeKey: string
  readonly state: ActionState
  readonly runAt: Date
  readonly expiresAt: Date | null
  readonly attempts: number
  readonly rescues: number
  readonly payload: Json
  readonly retryPolicy: string | null
  readonly enrollmentId: string | null
  readonly nodeId: string | null
  readonly reason: string | null
  readonly reasonCode: string | null
  readonly createdAt: Date
  /** When it entered the state it is in. */
  readonly stateAt: Date
}

/** An action in the hands of a worker: what a handler needs, and the token that fences everything it writes. */
export interface LeasedAction {
  readonly id: string
  readonly workspaceId: string
  readonly laneId: string
  readonly type: string
  readonly dedupeKey: string
  readonly attempts: number
  readonly payload: Json
  readonly retryPolicy: string | null
  readonly enrollmentId: string | null
  readonly nodeId: string | null
  /** How long it was due when it was claimed; negative for one that was claimed ahead of its time. */
  readonly lagMs: number
  /** Higher goes later within one round of claiming. */
  readonly priority: number
  readonly leaseToken: string
  /** Held by the process that accepted it, inside the caller's request. */
  readonly inline?: true
}

/** Why an action is where it is: a word for programs and a sentence for people. */
export interface Reason {
  readonly code: string
  readonly text: string
}

/**
 * What a worker says about an action it holds. Expected outcomes are returned, not thrown.
 *   done       the effect happened
 *   retry      it failed and may work later; burns an attempt unless told otherwise
 *   failed     it failed and will not work later
 *   skipped    it must not happen any more (suppressed, unsubscribed, stopped)
 *   uncertain  it was armed, and nobody can know whether it happened
 *   release    nothing left the building: it goes back as it was, optionally for later
 */
export type Outcome = (
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly waitMs: number; readonly reason: Reason; readonly counts?: boolean }
  | { readonly kind: 'failed'; readonly reason: Reason }
  | { readonly kind: 'skipped'; readonly reason: Reason }
  | { readonly kind: 'uncertain'; readonly reason: Reason }
  | { readonly kind: 'release'; readonly waitMs?: number }
) &
  Seen

/** What was seen on the way is kept with the outcome, whatever it is. */
export interface Seen {
  readonly attempt?: Attempt
  /** The recipient's server does not know the address: nobody of the workspace shall mail it again. */
  readonly suppress?: { readonly workspaceId: string; readonly address: string; readonly detail: string }
  /** The day of its sender's quota it goes out on; counted there when it is done. */
  readonly booking?: { readonly senderId: string; readonly day: string; readonly keepsGap?: true }
}

/** An action, and the token of the lease it is held under. */
export interface Held {
  readonly id: string
  readonly leaseToken: string
}

/** What became of one action. */
export interface Settlement extends Held {
  readonly outcome: Outcome
}
