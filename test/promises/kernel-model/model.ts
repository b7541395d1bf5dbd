import type { Outcome } from '../../../src/domain/action.js'
import { type ActionState, canMove, type Mover } from '../../../src/domain/states.js'

/** What the kernel promises, without a database: plain objects, and the table of legal moves. */
export interface ModelAction {
  readonly id: string
  readonly lane: number
  readonly expiresAt: number | null
  state: ActionState
  attempts: number
  rescues: number
  token: string | null
  /** Sent again after a hand-over nobody could decide about. */
  inDoubt: boolean
  /** Not claimable before this, but by who looks ahead, and not to be carried out by anybody. */
  dueAt: number
  /** Hand-overs of which nobody has said that they did not happen. More than one is an email sent twice. */
  handedOver: number
}

export interface ModelLease {
  readonly ids: readonly string[]
  expiresAt: number
}

/** A worker's memory: what it believes to hold. */
export type Memory = { readonly token: string; readonly id: string }[]

export interface Model {
  now: number
  readonly actions: Map<string, ModelAction>
  readonly keys: Map<string, string>
  readonly leases: Map<string, ModelLease>
  readonly lanes: { paused: boolean; canceled: boolean }[]
  readonly workers: Memory[]
  /** What crashed workers held: they may come back and speak. */
  readonly ghosts: Memory
}

export const LANES = 3
const MINUTE = 60_000
// No sum of steps equals a limit, so that the seconds a run takes never decide on which side of one it is.
export const STEPS = [4 * MINUTE, 11 * MINUTE]
export const LEASE = 10 * MINUTE
export const WAIT = 7 * MINUTE
export const LATER = 6 * MINUTE
export const LIFE = 9 * MINUTE
export const LEAD = 5 * MINUTE
/** How far the real clock may have gone on by itself. */
const DRIFT = 2 * MINUTE

export const newModel = (workers: number): Model => ({
  now: 0,
  actions: new Map(),
  keys: new Map(),
  leases: new Map(),
  lanes: Array.from({ length: LANES }, () => ({ paused: false, canceled: false })),
  workers: Array.from({ length: workers }, () => []),
  ghosts: [],
})

function move(action: ModelAction, to: ActionState, by: Mover): void {
  if (!canMove(action.state, to, by)) throw new Error(`The model moves ${action.state} to ${to} by ${by}`)
  action.state = to
}

/** What may have been taken is never called not sent: it is uncertain again, and nobody holds it. */
function end(action: ModelAction, to: ActionState, by: Mover): void {
  if (!action.inDoubt) {
    move(action, to, by)
    action.token = null
    return
  }
  if (action.state !== 'uncertain') move(action, 'uncertain', by)
  action.token = action.id
}

/** Says why a claim must not have ended like this, and otherwise believes it. */
export function claim(model: Model, id: string, becomes: ActionState, token: string, lead: number): void {
  const action = model.actions.get(id)!
  const lane = model.lanes[action.lane]!
  const refuse = (why: string) => {
    throw new Error(`${id} became ${becomes}, but ${why}`)
  }
  const isOver = action.expiresAt !== null && action.expiresAt <= model.now + DRIFT
  if (becomes === 'canceled' || becomes === 'uncertain') {
    if (!lane.canceled && (becomes === 'canceled' || !isOver)) refuse('its lane is not canceled')
    if (action.inDoubt !== (becomes === 'uncertain')) refuse(action.inDoubt ? 'it is in doubt' : 'it is not in doubt')
    return end(action, 'canceled', 'cancel')
  }
  if (lane.canceled || lane.paused) refuse('its lane is not open')
  if (becomes === 'expired') {
    if (!isOver) refuse('its time is not over')
    if (action.inDoubt) refuse('it is in doubt')
    return end(action, 'expired', 'expire')
  }
  if (becomes !== 'leased') refuse('a claim does no such thing')
  if (action.dueAt > model.now + lead + DRIFT) refuse('it is not due')
  if (action.expiresAt !== null && action.expiresAt <= model.now) refuse('its time is over')
  move(action, 'leased', 'claim')
  action.token = token
}

const holds = (model: Model, action: ModelAction | undefined, token: string): action is ModelAction => {
  if (!action || action.token !== token || action.state !== 'leased') return false
  const lane = model.lanes[action.lane]!
  const lease = model.leases.get(token)
  return (
    lease !== undefined &&
    lease.expiresAt > model.now &&
    action.dueAt <= model.now &&
    (action.expiresAt === null || action.expiresAt > model.now) &&
    !lane.paused &&
    !lane.canceled
  )
}

/** It falls due so soon that the seconds a run takes decide whether it has. */
export function isNearlyDue({ actions, now }: Model, id: string): boolean {
  const { dueAt } = actions.get(id)!
  return dueAt > now && dueAt <= now + DRIFT
}

export function arm(model: Model, id: string, token: string): boolean {
  const action = model.actions.get(id)
  if (!holds(model, action, token)) return false
  move(action, 'armed', 'arm')
  action.handedOver++
  if (action.handedOver > 1) throw new Error(`${id} is handed over twice for one decision`)
  return true
}

export function complete(model: Model, id: string, token: string): boolean {
  const action = model.actions.get(id)
  if (!holds(model, action, token)) return false
  move(action, 'done', 'complete')
  action.token = null
  action.attempts++
  return true
}

export function settle(model: Model, id: string, token: string, outcome: Outcome): boolean {
  const action = model.actions.get(id)
  if (!action) return false
  // A yes is heard from every hand-over of what is in doubt.
  const heard = action.inDoubt && action.state === 'uncertain' && outcome.kind === 'done'
  if (action.token !== token && !heard) return false
  if (outcome.kind === 'uncertain' && action.state !== 'armed') return false
  const to = outcome.kind === 'retry' || outcome.kind === 'release' ? 'pending' : outcome.kind
  const late = action.state === 'uncertain'
  const by = late ? 'evidence' : outcome.kind === 'release' ? 'release' : 'settle'
  if (!canMove(action.state, to, by)) return false
  const counts =
    outcome.kind !== 'release' && outcome.kind !== 'skipped' && !(outcome.kind === 'retry' && outcome.counts === false)
  if (counts && !late) action.attempts++
  if (to === 'failed' || to === 'skipped') end(action, to, by)
  else move(action, to, by)
  if (to === 'pending' || to === 'done') action.token = null
  if (to === 'pending') wait(model, action, 'waitMs' in outcome ? (outcome.waitMs ?? 0) : 0)
  if (to === 'pending' || to === 'failed') action.handedOver = 0
  return true
}

/** What nobody asks to wait is due when it was: it may have been taken ahead of its time. */
function wait(model: Model, action: ModelAction, ms: number): void {
  action.dueAt = ms > 0 ? model.now + ms : Math.max(action.dueAt, model.now)
}

export function rescue(model: Model): void {
  for (const [token, lease] of model.leases) {
    if (lease.expiresAt > model.now) continue
    model.leases.delete(token)
    for (const action of lease.ids.map((id) => model.actions.get(id)!)) {
      if (action.token !== token || (action.state !== 'leased' && action.state !== 'armed')) continue
      if (action.state === 'armed') {
        move(action, 'uncertain', 'rescue')
        action.attempts++
      } else {
        move(action, 'pending', 'rescue')
        action.token = null
        wait(model, action, action.rescues < 5 ? 0 : Math.min(2 ** (action.rescues - 5), 600) * 1_000)
      }
      action.rescues++
    }
  }
}

export function cancel(model: Model, id: string): boolean {
  const action = model.actions.get(id)!
  if (!canMove(action.state, 'canceled', 'cancel')) return false
  end(action, 'canceled', 'cancel')
  return true
}

export type Decision = 'retry' | 'dismiss' | 'resolve done' | 'resolve again'

export function decide(model: Model, id: string, decision: Decision): boolean {
  const action = model.actions.get(id)!
  const from = decision.startsWith('resolve') ? 'uncertain' : 'failed'
  if (action.state !== from) return false
  const to = decision === 'dismiss' ? 'dismissed' : decision === 'resolve done' ? 'done' : 'pending'
  move(action, to, 'person')
  if (decision === 'resolve again') action.inDoubt = true
  action.token = null
  if (to === 'pending') {
    action.attempts = 0
    action.dueAt = model.now
    action.handedOver = 0
  }
  return true
}
