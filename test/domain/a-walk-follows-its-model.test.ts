import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { STOPPING_EVENTS } from '../../src/domain/sequence.js'
import type { Happening } from '../../src/domain/walk.js'
import { events, graphs } from './sequence-graphs.js'
import { WalkModel } from './walk-model.js'
import { type Clock, WalkWorld } from './walk-world.js'

/** How often each kind of race was really run: a test in which nothing races proves nothing. */
const races = { 'timeout lost to event': 0, 'event lost to timeout': 0, 'clock lost to stop': 0 }

type Step = fc.Command<WalkModel, WalkWorld>

const step = (
  name: string,
  check: (model: WalkModel) => boolean,
  run: (model: WalkModel, world: WalkWorld) => void,
): Step => ({
  check,
  run(model, world) {
    run(model, world)
    expectSame(model, world)
  },
  toString: () => name,
})

function expectSame(model: WalkModel, world: WalkWorld) {
  expect(world.emails).toEqual(model.emails)
  expect(world.state).toBe(model.isOver ? model.phase : 'active')
  if (model.isOver) expect(world.pending).toEqual([])
  else {
    expect(world.position).toEqual({ nodeId: model.at, arrived: model.phase === 'waiting' })
    // One thing it waits for, never two, and never none.
    expect(world.pending).toMatchObject([{ kind: model.phase === 'waiting' ? 'timeout' : 'wait', nodeId: model.at }])
  }
}

/** Lets a clock speak. It means something only if nothing else has moved the enrollment since it was set. */
function ring(model: WalkModel, world: WalkWorld, clock: Clock) {
  const isCurrent = world.pending.includes(clock)
  expect(world.ring(clock)).toBe(isCurrent)
  if (!isCurrent) races[world.state === 'stopped' ? 'clock lost to stop' : 'timeout lost to event'] += 1
  else if (clock.kind === 'timeout') model.timeOut()
  else model.arrive()
}

function hear(model: WalkModel, world: WalkWorld, event: string) {
  const moves = model.awaited === event
  model.hear(event)
  expect(world.hear(event)).toBe(moves)
  return moves
}

function stop(model: WalkModel, world: WalkWorld, happening: Happening) {
  expect(world.happen(happening)).toBe(!model.isOver)
  model.stop()
}

const isOver = (model: WalkModel) => model.isOver
const isUnderWay = (model: WalkModel) => !model.isOver
const isWaiting = (model: WalkModel) => model.awaited !== null

const due = step('what is due comes', isUnderWay, (model, world) => ring(model, world, world.pending[0]!))
const claim = step('a worker takes what is due', isUnderWay, (_, world) => world.claim(world.pending[0]!))
const speak = step(
  'a worker speaks up',
  () => true,
  (model, world) => {
    if (world.inHand[0]) ring(model, world, world.inHand[0])
  },
)
const eventFirst = step('the event, then the timeout', isWaiting, (model, world) => {
  const timeout = world.pending[0]!
  world.claim(timeout)
  expect(hear(model, world, model.awaited!)).toBe(true)
  expectSame(model, world)
  ring(model, world, timeout)
})
const timeoutFirst = step('the timeout, then the event', isWaiting, (model, world) => {
  const event = model.awaited!
  ring(model, world, world.pending[0]!)
  expectSame(model, world)
  if (!hear(model, world, event)) races['event lost to timeout'] += 1
})
const reason = { kind: 'stopped', code: 'stopped', reason: 'Ada said so.' } as const
const stops = fc
  .constantFrom<Happening>(reason, ...STOPPING_EVENTS.map((event) => ({ kind: 'event', event }) as const))
  .map((happening) =>
    step(
      `stopped by ${JSON.stringify(happening)}`,
      () => true,
      (model, world) => stop(model, world, happening),
    ),
  )
const hearings = events.map((event) =>
  step(
    event,
    () => true,
    (model, world) => void hear(model, world, event),
  ),
)
const tooLate = fc.constantFrom('arrived' as const, 'timed_out' as const).map((kind) =>
  step(`${kind}, though it is over`, isOver, (_, world) => {
    expect(world.happen({ kind })).toBe(false)
  }),
)

// Some twice, because what stops it ends the story.
const steps = [due, due, claim, speak, speak, eventFirst, timeoutFirst].map((each) => fc.constant(each))
const commands = fc.commands([...steps, hearings, hearings, stops, tooLate], { maxCommands: 40, size: 'max' })

describe('event against timeout against stop', () => {
  it('goes as in the model, in any story of any sequence', () => {
    const people = fc.record({ plan: fc.constantFrom('free', 'pro'), score: fc.constantFrom('7', '101') })
    fc.assert(
      fc.property(graphs, people, commands, (graph, person, story) => {
        fc.modelRun(() => {
          const setup = { model: new WalkModel(graph, person), real: new WalkWorld(graph, person) }
          expectSame(setup.model, setup.real)
          return setup
        }, story)
      }),
      { numRuns: 1_000 },
    )
    for (const [race, count] of Object.entries(races)) expect([race, count > 10]).toEqual([race, true])
  })
})
