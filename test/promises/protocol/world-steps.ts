/** What happens without any worker choosing it: time passes, the rescuer passes, people decide. */
import { armMatches, isHeld, move } from './protocol.js'
import type { WorldStep } from './step.js'

const system: WorldStep[] = [
  {
    name: 'the lease expires',
    why: 'At any moment: time is the adversary, so no length of a lease is ever relied on.',
    guard: (world) => isHeld(world.state) && !world.leaseExpired,
    effect: (world) => void (world.leaseExpired = true),
  },
  {
    name: 'the rescuer finds it leased',
    why: 'Not armed means nothing left, and its late holder will find its token gone.',
    guard: (world) => world.state === 'leased' && world.leaseExpired,
    effect: (world, { protocol }) => move(world, 'pending', 'rescue', protocol),
  },
  {
    name: 'the rescuer finds it armed',
    why: 'Armed means it may have left: only evidence or a person can say.',
    guard: (world, { protocol }) => world.state === 'armed' && world.leaseExpired && protocol.rescueOfArmed !== 'never',
    effect: (world, { protocol }) =>
      move(world, protocol.rescueOfArmed === 'pending' ? 'pending' : 'uncertain', 'rescue', protocol),
  },
  {
    name: 'the arm on the wire is executed',
    why: 'Its sender is gone; the statement is fenced like any other and may match or not.',
    guard: (world) => world.armOnTheWire !== 0,
    effect: (world, { protocol }) => {
      const laneIsOpen = world.lane === 'open' || !protocol.armChecksLane
      if (laneIsOpen && armMatches(world, world.armOnTheWire, protocol)) move(world, 'armed', 'arm', protocol)
      world.armOnTheWire = 0
    },
  },
  {
    name: 'the canceled lane is swept',
    why: 'Canceling a lane rewrites no rows, so something must: otherwise what is pending there stays so for ever.',
    guard: (world, { protocol }) =>
      world.lane === 'canceled' && world.state === 'pending' && protocol.canceledLaneIsSwept,
    effect: (world, { protocol }) => {
      move(world, 'canceled', 'cancel', protocol)
      world.canceled = true
    },
  },
  {
    name: 'the lane is resumed',
    why: 'A paused lane may hold an action as long as its owner likes, not longer.',
    guard: (world) => world.lane === 'paused',
    effect: (world) => void (world.lane = 'open'),
  },
]

const people: WorldStep[] = [
  {
    name: 'the lane is paused',
    why: 'At any moment, even between a claim and its arm.',
    guard: (world, { pauses }) => world.lane === 'open' && world.pauses < pauses,
    effect: (world) => {
      world.lane = 'paused'
      world.pauses++
    },
  },
  {
    name: 'the lane is canceled',
    why: 'At any moment, and for good.',
    guard: (world) => world.lane !== 'canceled',
    effect: (world) => void (world.lane = 'canceled'),
  },
  {
    name: 'the action is canceled',
    why: 'Possible until it is armed: after that nobody can promise that it will not go out.',
    guard: (world, { protocol }) => protocol.cancelStopsAt.includes(world.state),
    effect: (world, { protocol }) => {
      move(world, 'canceled', 'cancel', protocol)
      world.canceled = true
    },
  },
  {
    name: 'the action is skipped',
    why: 'Its recipient unsubscribed or its enrollment stopped before it was armed.',
    guard: (world) => world.state === 'pending' || world.state === 'leased',
    effect: (world, { protocol }) => {
      move(world, 'skipped', 'cancel', protocol)
      world.canceled = true
    },
  },
  {
    name: 'the action runs past its expires_at',
    why: 'Too late to be worth sending; like a cancel, until it is armed.',
    guard: (world) => world.state === 'pending' || world.state === 'leased',
    effect: (world, { protocol }) => {
      move(world, 'expired', 'expire', protocol)
      world.canceled = true
    },
  },
  {
    name: 'a person says it was sent',
    why: 'Somebody looked it up where we cannot.',
    guard: (world) => world.state === 'uncertain',
    effect: (world, { protocol }) => move(world, 'done', 'person', protocol),
  },
  {
    name: 'a person chooses to send it again',
    why: 'A new decision, made knowing that the first may have arrived.',
    guard: (world, { resends }) => world.state === 'uncertain' && world.resends < resends,
    effect: (world, { protocol }) => {
      move(world, 'pending', 'person', protocol)
      world.resends++
      world.canceled = false
      if (protocol.resendRemembersDoubt) world.inDoubt = true
    },
  },
  {
    name: 'a person retries what failed',
    why: 'A new decision.',
    guard: (world, { retries }) => world.state === 'failed' && world.retries < retries,
    effect: (world, { protocol }) => {
      move(world, 'pending', 'person', protocol)
      world.retries++
    },
  },
  {
    name: 'a person dismisses what failed',
    why: 'Seen, and nothing more to do.',
    guard: (world) => world.state === 'failed',
    effect: (world, { protocol }) => move(world, 'dismissed', 'person', protocol),
  },
]

export const WORLD_STEPS: readonly WorldStep[] = [
  ...system,
  ...people.map((step): WorldStep => ({ ...step, notBySystem: true })),
]
