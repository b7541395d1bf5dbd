/**
 * The states of an action and the legal moves between them, once, as data. The union type, the CHECK
 * constraints, the diagram in the docs and the protocol search all derive from this table.
 *
 * `by` says who may make the move:
 *   claim, arm, settle, release  the worker that holds the lease, fenced by its token
 *   complete                     that worker, for an action whose whole effect is in the transaction that says so; one
 *                                that comes again (a campaign's batch) is pending again in the same transaction
 *   rescue                       any worker, when the lease has run out
 *   evidence                     the worker that lost the lease of an armed action and learned the answer later
 *   cancel, expire               the system, before anything left the building
 *   person                       somebody decided (or a policy its sender chose)
 *
 * Where an action ends as `failed` or unsent, one in doubt (sent again after a hand-over nobody could decide about)
 * ends as `uncertain`: what may have been taken is never called not sent.
 */
export const ACTION_STATES = [
  'pending',
  'leased',
  'armed',
  'done',
  'failed',
  'uncertain',
  'canceled',
  'skipped',
  'expired',
  'dismissed',
] as const

export type ActionState = (typeof ACTION_STATES)[number]

export type Mover =
  | 'claim'
  | 'arm'
  | 'complete'
  | 'settle'
  | 'release'
  | 'rescue'
  | 'evidence'
  | 'cancel'
  | 'expire'
  | 'person'

export interface Transition {
  readonly from: ActionState
  readonly to: ActionState
  readonly by: Mover
}

const move = (from: ActionState, by: Mover, ...to: ActionState[]): Transition[] =>
  to.map((state) => ({ from, to: state, by }))

export const TRANSITIONS: readonly Transition[] = [
  ...move('pending', 'claim', 'leased'),
  ...move('pending', 'expire', 'expired', 'uncertain'),
  ...move('pending', 'cancel', 'canceled', 'skipped', 'uncertain'),
  ...move('leased', 'arm', 'armed'),
  ...move('leased', 'complete', 'done', 'pending'),
  ...move('leased', 'settle', 'failed', 'pending', 'skipped', 'uncertain'),
  ...move('leased', 'release', 'pending'),
  ...move('leased', 'rescue', 'pending'),
  ...move('leased', 'cancel', 'canceled', 'skipped', 'uncertain'),
  ...move('leased', 'expire', 'expired', 'uncertain'),
  ...move('armed', 'settle', 'done', 'failed', 'pending', 'uncertain'),
  ...move('armed', 'release', 'pending'),
  ...move('armed', 'rescue', 'uncertain'),
  ...move('uncertain', 'evidence', 'done', 'failed', 'pending'),
  ...move('uncertain', 'person', 'done', 'pending'),
  ...move('failed', 'person', 'pending', 'dismissed'),
]

/** Nothing moves an action out of these: its story is over. */
export const FINAL_STATES = ACTION_STATES.filter((state) => TRANSITIONS.every(({ from }) => from !== state))

/** Held by a worker, under a lease. */
export const HELD_STATES = ['leased', 'armed'] as const satisfies readonly ActionState[]

/** A person should look: nothing will move these by itself. */
export const ATTENTION_STATES = ['failed', 'uncertain'] as const satisfies readonly ActionState[]

/** Over, and never handed over. */
export const UNSENT_STATES = ['canceled', 'skipped', 'expired', 'dismissed'] as const satisfies readonly ActionState[]

export const canMove = (from: ActionState, to: ActionState, by: Mover): boolean =>
  TRANSITIONS.some((transition) => transition.from === from && transition.to === to && transition.by === by)
