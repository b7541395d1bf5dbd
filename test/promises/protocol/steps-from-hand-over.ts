/** A worker's steps from the hand-over on, the endings that need none, and its death. */
import { completeMatches, forget, isHeld, move, settle, type Rules } from './protocol.js'
import type { WorkerStep } from './step.js'
import { PHASES, UNANSWERED, type Phase, type Worker, type World } from './world.js'

const handOver = (name: string, why: string, taken: boolean, next: Phase): WorkerStep => ({
  name: `hands over: ${name}`,
  why,
  from: ['armed', 'claimed'],
  guard: (_world, worker, { protocol, kind }) =>
    worker.phase === (protocol.armComesFirst ? 'armed' : 'claimed') && kind === 'hand-over',
  effect: (world, worker) => {
    world.spent |= 1 << worker.decision
    const underItsLease = worker.token === world.token && (isHeld(world.state) || world.state === 'uncertain')
    if (taken && underItsLease) world.taken = true
    if (taken) world.everTaken = true
    worker.phase = next
  },
  handsOver: true,
})

const handingOver: WorkerStep[] = [
  handOver('taken', 'The provider has it, and said so.', true, 'accepted'),
  handOver('taken, the reply is lost', 'The provider has it, and nobody here can know.', true, 'unanswered, taken'),
  handOver('the connection breaks first', 'Not taken, and nobody here can know.', false, 'unanswered, not taken'),
  handOver('deferred', 'The provider proved that it did not take it: not now.', false, 'deferred'),
  handOver('rejected', 'The provider proved that it did not take it: never.', false, 'rejected'),
  {
    name: 'hears the reply after all',
    why: 'Silence is not an answer, but an answer may still follow it: before or after the row became uncertain.',
    from: UNANSWERED,
    effect: (_world, worker) => void (worker.phase = worker.phase === 'unanswered, taken' ? 'accepted' : 'deferred'),
  },
]

/** A refusal on record gives the decision back: handing over again is then what was decided. Silence proves nothing. */
const settleRefused = (world: World, worker: Worker, to: 'pending' | 'failed', { protocol }: Rules): void => {
  const isProof = worker.phase === 'deferred' || worker.phase === 'rejected'
  if (settle(world, worker, to, protocol) && isProof) world.spent &= ~(1 << worker.decision)
  forget(worker)
}

const settling: WorkerStep[] = [
  {
    name: 'settles done',
    why: 'The provider’s yes is the only thing that makes an email sent.',
    from: ['accepted'],
    effect: (world, worker, { protocol }) => {
      settle(world, worker, 'done', protocol)
      forget(worker)
    },
  },
  {
    name: 'settles pending, to try again',
    why: 'The provider did not take it, so trying again is no duplicate.',
    from: ['deferred', ...UNANSWERED],
    guard: (_world, worker, { protocol }) => worker.phase === 'deferred' || protocol.silenceMeansNo,
    effect: (world, worker, rules) => settleRefused(world, worker, 'pending', rules),
  },
  {
    name: 'settles failed',
    why: 'Refused for good, or refused once too often.',
    from: ['rejected', 'deferred'],
    effect: (world, worker, rules) => settleRefused(world, worker, 'failed', rules),
  },
  {
    name: 'settles uncertain',
    why: 'No reply means nobody knows; the worker keeps listening, for the reply may still come.',
    from: UNANSWERED,
    guard: (world, worker) => isHeld(world.state) && world.token === worker.token,
    effect: (world, worker, { protocol }) => void settle(world, worker, 'uncertain', protocol),
  },
  {
    name: 'stops listening',
    why: 'The row is uncertain or somebody else’s: this worker has nothing more to add.',
    from: UNANSWERED,
    guard: (world, worker) => !(isHeld(world.state) && world.token === worker.token),
    effect: (_world, worker) => forget(worker),
  },
]

const settleUnsent = (name: string, why: string, to: 'failed' | 'pending' | 'skipped'): WorkerStep => ({
  name,
  why,
  from: ['claimed'],
  effect: (world, worker, { protocol }) => {
    settle(world, worker, to, protocol)
    forget(worker)
  },
})

const finishingWithoutHandOver: WorkerStep[] = [
  settleUnsent(
    'fails before handing over',
    'A recipient refused before the body: nothing left the building.',
    'failed',
  ),
  settleUnsent('postpones', 'The pace says not now: back to pending, no attempt burned.', 'pending'),
  settleUnsent('skips', 'Suppressed or stopped since it was planned.', 'skipped'),
]

const completing: WorkerStep[] = [
  {
    name: 'commits effect and completion together',
    why: 'Effect and fence share one transaction: either both happen or neither.',
    from: ['claimed'],
    guard: (world, worker, { protocol, kind }) =>
      kind === 'database' && protocol.completeIsAtomic && completeMatches(world, worker, protocol),
    effect: (world, worker, { protocol }) => {
      world.effects = Math.min(world.effects + 1, 3)
      move(world, 'done', 'complete', protocol)
      forget(worker)
    },
  },
  {
    name: 'commits effect and its next turn together',
    why: 'A campaign plans a batch and comes again: the turn that was committed is over, and the next one begins.',
    from: ['claimed'],
    guard: (world, worker, { protocol, kind }) =>
      kind === 'database' && protocol.completeIsAtomic && completeMatches(world, worker, protocol),
    effect: (world, worker, { protocol }) => {
      // Committed once more than this turn may: kept, so that the promise sees it.
      world.effects = world.effects === 0 ? 0 : Math.min(world.effects + 1, 3)
      move(world, 'pending', 'complete', protocol)
      forget(worker)
    },
  },
  {
    name: 'commits the effect alone',
    why: 'Broken protocols only: the completion follows in a transaction of its own.',
    from: ['claimed'],
    guard: (world, worker, { protocol, kind }) =>
      kind === 'database' && !protocol.completeIsAtomic && completeMatches(world, worker, protocol),
    effect: (world, worker) => {
      world.effects = Math.min(world.effects + 1, 3)
      worker.phase = 'affected'
    },
  },
  {
    name: 'commits the completion alone',
    why: 'Broken protocols only: too late if the lease was lost in between.',
    from: ['affected'],
    effect: (world, worker, { protocol }) => {
      settle(world, worker, 'done', protocol)
      forget(worker)
    },
  },
]

const crash: WorkerStep = {
  name: 'crashes',
  why: 'All it knew is gone; what the database committed, the wire carries and the provider took is not.',
  from: PHASES.filter((phase) => phase !== 'idle'),
  guard: (world, _worker, { crashes }) => world.crashes < crashes,
  effect: (world, worker) => {
    world.crashes++
    forget(worker)
  },
  notBySystem: true,
}

export const STEPS_FROM_HAND_OVER: readonly WorkerStep[] = [
  ...handingOver,
  ...settling,
  ...finishingWithoutHandOver,
  ...completing,
  crash,
]
