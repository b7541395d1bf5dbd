/** A worker's steps while nothing has left the building: claim, arm, back out. */
import { armMatches, move, release, forget, type Protocol, type Rules } from './protocol.js'
import type { WorkerStep } from './step.js'
import { decisionOf, HANDED_OVER, type Phase, type Worker, type World } from './world.js'

const isClaimable = (world: World, { claimChecksLane }: Protocol): boolean =>
  world.state === 'pending' && (world.lane === 'open' || !claimChecksLane)

const stampClaim = (world: World, worker: Worker, protocol: Protocol): void => {
  move(world, 'leased', 'claim', protocol)
  world.token = ++world.claims
  world.leaseExpired = false
  world.taken = false
  worker.phase = 'claimed'
  worker.token = world.token
  worker.decision = decisionOf(world)
}

const claiming: WorkerStep[] = [
  {
    name: 'claims',
    why: 'One statement finds and stamps a pending row, so that two workers cannot both have found it.',
    from: ['idle'],
    guard: (world, _worker, { protocol }) => protocol.claimIsAtomic && isClaimable(world, protocol),
    effect: (world, worker, { protocol }) => stampClaim(world, worker, protocol),
  },
  {
    name: 'reads a candidate to claim',
    why: 'Broken protocols only: the first half of a claim in two statements.',
    from: ['idle'],
    guard: (world, _worker, { protocol }) => !protocol.claimIsAtomic && isClaimable(world, protocol),
    effect: (_world, worker) => void (worker.phase = 'candidate'),
  },
  {
    name: 'claims the candidate it read',
    why: 'Broken protocols only: the second half, which does not look at the state again.',
    from: ['candidate'],
    effect: (world, worker, { protocol }) => stampClaim(world, worker, protocol),
  },
]

const commitArm = (world: World, protocol: Protocol): void =>
  protocol.armWrites === 'armed' ? move(world, 'armed', 'arm', protocol) : move(world, 'done', 'settle', protocol)

/** The phase from which the arm statement writes. */
const armsFrom = ({ protocol, kind }: Rules): Phase | null =>
  kind === 'database' || !protocol.armComesFirst ? null : protocol.armChecksLane ? 'lane seen' : 'claimed'

const arming: WorkerStep[] = [
  {
    name: 'has its arm committed',
    why: 'The database remembers that the email may leave before it can, so a crash is never mistaken for "not sent".',
    from: ['claimed', 'lane seen'],
    guard: (world, worker, rules) =>
      worker.phase === armsFrom(rules) && armMatches(world, worker.token, rules.protocol),
    effect: (world, worker, { protocol }) => {
      commitArm(world, protocol)
      worker.phase = 'asked'
    },
  },
  {
    name: 'has its arm refused',
    why: 'Whatever the reason (lease lost or expired, lane not open, canceled), the worker must not hand over.',
    from: ['claimed', 'lane seen'],
    guard: (world, worker, rules) =>
      (worker.phase === armsFrom(rules) && !armMatches(world, worker.token, rules.protocol)) ||
      (worker.phase === 'claimed' && armsFrom(rules) === 'lane seen' && world.lane !== 'open'),
    effect: (_world, worker) => void (worker.phase = 'withdrawing'),
  },
  {
    name: 'stops waiting for its arm, which is still on the wire',
    why: 'A timeout does not recall a statement: it may be executed after the worker has turned to something else.',
    from: ['claimed'],
    guard: (world, _worker, rules) => armsFrom(rules) !== null && world.armOnTheWire === 0,
    effect: (world, worker) => {
      world.armOnTheWire = worker.token
      worker.phase = 'withdrawing'
    },
  },
  {
    name: 'learns that its arm is committed',
    why: 'Only this knowledge permits the hand-over.',
    from: ['asked'],
    effect: (_world, worker) => void (worker.phase = 'armed'),
  },
  {
    name: 'never hears that its arm is committed',
    why: 'The commit happened and its answer was lost: the worker knows it has handed nothing over, and gives up.',
    from: ['asked'],
    effect: (_world, worker) => void (worker.phase = 'withdrawing'),
  },
  {
    name: 'has its arm begun, with the lane open',
    why: 'A statement sees the lane as it was when it began: a pause or cancel that commits while it runs is too late.',
    from: ['claimed'],
    guard: (world, _worker, rules) => armsFrom(rules) === 'lane seen' && world.lane === 'open',
    effect: (_world, worker) => void (worker.phase = 'lane seen'),
  },
  {
    name: 'arms after the fact',
    why: 'Broken protocols only: the arm as a record of what was done instead of a permission to do it.',
    from: HANDED_OVER,
    guard: (world, worker, { protocol }) => !protocol.armComesFirst && armMatches(world, worker.token, protocol),
    effect: (world, _worker, { protocol }) => commitArm(world, protocol),
  },
]

const withdrawing: WorkerStep[] = [
  {
    name: 'decides not to hand over',
    why: 'Graceful stop, or the connection broke before the body: until the hand-over a worker may always back out.',
    from: ['claimed', 'armed'],
    effect: (_world, worker) => void (worker.phase = 'withdrawing'),
  },
  {
    name: 'releases',
    why: 'Only the token’s holder knows that nothing left, so only it may lead an armed or uncertain row back.',
    from: ['withdrawing'],
    effect: (world, worker, { protocol }) => {
      release(world, worker, protocol)
      forget(worker)
    },
  },
]

export const STEPS_BEFORE_HAND_OVER: readonly WorkerStep[] = [...claiming, ...arming, ...withdrawing]
