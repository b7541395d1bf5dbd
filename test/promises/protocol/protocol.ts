/**
 * The conditions the SQL statements check, as data, so that a broken protocol is the correct one with one
 * line changed; and the row writes every step is made of.
 */
import { HELD_STATES, UNSENT_STATES, type ActionState, type Mover } from '../../../src/domain/states.js'
import { HANDED_OVER, type Phase, type Worker, type World } from './world.js'

export interface Protocol {
  /** claim: candidate read and write are one statement (`for update skip locked`). */
  claimIsAtomic: boolean
  claimChecksLane: boolean
  armChecksToken: boolean
  armChecksExpiry: boolean
  armChecksLane: boolean
  /** The arm is committed before the byte that cannot be taken back. */
  armComesFirst: boolean
  /** What the arm writes: `done` is the temptation to settle early. */
  armWrites: 'armed' | 'done'
  settleChecksToken: boolean
  settleChecksState: boolean
  evidenceChecksToken: boolean
  releaseChecksToken: boolean
  /** Leaving leased, armed and uncertain clears the token. */
  tokenEndsWithLease: boolean
  /** A database-only effect and its completion are one transaction. */
  completeIsAtomic: boolean
  completeChecksToken: boolean
  completeChecksExpiry: boolean
  rescueOfArmed: 'uncertain' | 'pending' | 'never'
  cancelStopsAt: readonly ActionState[]
  /** Rows left pending in a canceled lane are canceled, sooner or later. */
  canceledLaneIsSwept: boolean
  /** Sending again what is uncertain marks it as in doubt. */
  resendRemembersDoubt: boolean
  /** Who, ending an action in doubt without a yes, ends it uncertain. */
  doubtIsAskedBy: readonly Mover[]
  /** Ending in doubt leaves a token nobody holds. */
  doubtTakesTheToken: boolean
  /** A worker whose conversation broke after the body began treats that as a deferral. */
  silenceMeansNo: boolean
}

export const CORRECT: Protocol = {
  claimIsAtomic: true,
  claimChecksLane: true,
  armChecksToken: true,
  armChecksExpiry: true,
  armChecksLane: true,
  armComesFirst: true,
  armWrites: 'armed',
  settleChecksToken: true,
  settleChecksState: true,
  evidenceChecksToken: true,
  releaseChecksToken: true,
  tokenEndsWithLease: true,
  completeIsAtomic: true,
  completeChecksToken: true,
  completeChecksExpiry: true,
  rescueOfArmed: 'uncertain',
  cancelStopsAt: ['pending', 'leased'],
  canceledLaneIsSwept: true,
  resendRemembersDoubt: true,
  doubtIsAskedBy: ['settle', 'evidence', 'cancel', 'expire'],
  doubtTakesTheToken: true,
  silenceMeansNo: false,
}

/** A protocol, the kind of action it works on, and how often each bounded thing may happen. */
export interface Rules {
  protocol: Protocol
  /** `hand-over`: something irrevocable leaves the building. `database`: the effect is in our own database. */
  kind: 'hand-over' | 'database'
  crashes: number
  pauses: number
  resends: number
  retries: number
}

export const isHeld = (state: ActionState): boolean => (HELD_STATES as readonly ActionState[]).includes(state)

const NOT_SENT: readonly ActionState[] = ['failed', ...UNSENT_STATES]

/** What may have been taken is never called not sent, and is nobody's any more. */
const endInDoubt = (world: World, by: Mover, { doubtTakesTheToken }: Protocol): void => {
  // Evidence that changes nothing about where it stands is no move.
  if (world.state !== 'uncertain') world.by = by
  world.state = 'uncertain'
  world.leaseExpired = false
  if (doubtTakesTheToken || world.token === 0) world.token = ++world.claims
}

/** Writes the row. Every write of the model goes through here, so every write names who made it. */
export const move = (world: World, to: ActionState, by: Mover, protocol: Protocol): void => {
  const { tokenEndsWithLease, doubtIsAskedBy } = protocol
  if (world.inDoubt && NOT_SENT.includes(to) && doubtIsAskedBy.includes(by)) return endInDoubt(world, by, protocol)
  world.state = to
  world.by = by
  if (!isHeld(to)) world.leaseExpired = false
  if (isHeld(to) || to === 'uncertain') return
  world.taken = false
  if (tokenEndsWithLease) world.token = 0
}

/** where id = … and lease_token = … and state = 'leased' and lease not expired; the lane was looked at before */
export const armMatches = (world: World, token: number, protocol: Protocol): boolean =>
  world.state === 'leased' &&
  (world.token === token || !protocol.armChecksToken) &&
  (!world.leaseExpired || !protocol.armChecksExpiry)

/** Only who handed over has learned anything about an uncertain row. (Who did not, releases.) */
const isEvidence = ({ phase }: Worker): boolean => (HANDED_OVER as readonly Phase[]).includes(phase)

/**
 * where id = … and lease_token = … and (state in ('leased', 'armed') or state = 'uncertain' and this is evidence);
 * a yes is evidence under any token once it is in doubt
 */
const settleMatches = (world: World, worker: Worker, to: ActionState, protocol: Protocol): boolean => {
  const own = world.token === worker.token
  if (isHeld(world.state)) return own || !protocol.settleChecksToken
  if (world.state === 'uncertain')
    return isEvidence(worker) && (own || !protocol.evidenceChecksToken || (world.inDoubt && to === 'done'))
  return !protocol.settleChecksState && own
}

/** The fenced write of an outcome. When it matches no row the worker has lost its say, and drops it. */
export const settle = (world: World, worker: Worker, to: ActionState, protocol: Protocol): boolean => {
  if (!settleMatches(world, worker, to, protocol)) return false
  move(world, to, world.state === 'uncertain' ? 'evidence' : 'settle', protocol)
  return true
}

/** where id = … and lease_token = … and state in ('leased', 'armed', 'uncertain'): nothing has left, by its holder's word */
export const release = (world: World, worker: Worker, protocol: Protocol): void => {
  if (world.token !== worker.token && protocol.releaseChecksToken) return
  if (isHeld(world.state)) move(world, 'pending', 'release', protocol)
  else if (world.state === 'uncertain') move(world, 'pending', 'evidence', protocol)
}

/** where id = … and lease_token = … and state = 'leased' and lease not expired and lane open */
export const completeMatches = (world: World, worker: Worker, protocol: Protocol): boolean =>
  world.state === 'leased' &&
  (world.token === worker.token || !protocol.completeChecksToken) &&
  (!world.leaseExpired || !protocol.completeChecksExpiry) &&
  world.lane === 'open'

export const forget = (worker: Worker): void => {
  worker.phase = 'idle'
  worker.token = 0
  worker.decision = 0
}
