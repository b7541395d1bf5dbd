/* oxlint-disable unicorn/no-thenable -- the `then` of a branch is the name of a node: nothing can await it */
import { describe, expect, it } from 'vitest'
import { readSequence } from '../../src/domain/read-sequence.js'
import { readStretch, STOPPING_EVENTS, stepNumbers } from '../../src/domain/sequence.js'
import { decideWalk, type Facts, type Happening, type Position, type Walk } from '../../src/domain/walk.js'

const DAY = 86_400_000
const NOTHING: Facts = { attributes: {}, events: new Set(), recentEvents: new Set() }
const read = (...nodes: object[]) => readSequence({ nodes }).graph!
const send = (id: string, next?: string, days = 1) => ({ id, type: 'send', template: id, delay: { days }, next })
const wait = (id: string, next?: string) => ({ id, type: 'wait', duration: { days: 1 }, next })
const waitFor = (id: string, event: string, onEvent?: string, onTimeout?: string) => ({
  id,
  type: 'wait_for',
  event,
  timeout: { days: 3 },
  onEvent,
  onTimeout,
})
const branch = (id: string, condition: object, then?: string, other?: string) => ({
  id,
  type: 'branch',
  if: condition,
  then,
  else: other,
})
const event = (name: string): Happening => ({ kind: 'event', event: name })
const shortly = ({ effects }: Walk) =>
  effects.map((effect) => [
    effect.kind,
    'nodeId' in effect ? effect.nodeId : '',
    'delayMs' in effect ? effect.delayMs / DAY : '',
  ])

describe('a stretch', () => {
  const graph = read(
    send('a', 'b', 0),
    wait('b', 'c'),
    wait('c', 'd'),
    send('d', 'e'),
    send('e', 'f'),
    wait('f', 'g'),
    waitFor('g', 'opened', 'h'),
    wait('h'),
  )

  it('is everything up to the next thing to decide, its waits counted to what comes after them', () => {
    expect(readStretch(graph, 'a')).toEqual({
      sends: [
        { nodeId: 'a', stepNumber: 1, delayMs: 0 },
        { nodeId: 'd', stepNumber: 2, delayMs: 3 * DAY },
        { nodeId: 'e', stepNumber: 3, delayMs: DAY },
      ],
      end: 'g',
      endDelayMs: DAY,
    })
  })

  it.each([
    ['of waits alone', 'h', null, DAY],
    ['of nothing', 'g', 'g', 0],
    ['of nothing at the end', null, null, 0],
  ])('may be one %s', (_, from, end, endDelayMs) => {
    expect(readStretch(graph, from)).toEqual({ sends: [], end, endDelayMs })
  })

  it('numbers its emails by their place among the nodes, not by the way that leads to them', () => {
    const { graph } = readSequence({ start: 'b', nodes: [send('a'), wait('w', 'a'), send('b', 'w')] })
    expect([...stepNumbers(graph!)]).toEqual([
      ['a', 1],
      ['b', 2],
    ])
    expect(readStretch(graph!, 'b').sends.map(({ stepNumber }) => stepNumber)).toEqual([2, 1])
  })

  it('does not begin at a node that is not there', () => {
    expect(() => readStretch(graph, 'z')).toThrow(RangeError)
  })
})

describe('somebody who is enrolled', () => {
  it('has the first stretch planned, and completes after its last email', () => {
    const graph = read(send('a', 'b', 0), send('b'))
    const enrolled = decideWalk(graph, null, { kind: 'enrolled' }, NOTHING)
    expect(enrolled).toEqual({
      moved: true,
      position: { nodeId: null, arrived: false },
      effects: [
        { kind: 'send', nodeId: 'a', stepNumber: 1, delayMs: 0 },
        { kind: 'send', nodeId: 'b', stepNumber: 2, delayMs: DAY },
        { kind: 'wait', nodeId: null, delayMs: 0 },
      ],
    })
    expect(decideWalk(graph, enrolled.position, { kind: 'arrived' }, NOTHING)).toEqual({
      moved: true,
      position: { nodeId: null, arrived: true },
      effects: [{ kind: 'complete' }],
    })
  })

  it('is not enrolled a second time, and nothing can happen before', () => {
    const graph = read(send('a'))
    const { position } = decideWalk(graph, null, { kind: 'enrolled' }, NOTHING)
    expect(decideWalk(graph, position, { kind: 'enrolled' }, NOTHING)).toEqual({ moved: false, position, effects: [] })
    expect(() => decideWalk(graph, null, { kind: 'arrived' }, NOTHING)).toThrow('before it was enrolled')
  })

  it('passes branches at once, by what is known of it', () => {
    const pro = { attribute: 'plan', is: 'equals', value: 'pro' }
    const graph = read(
      branch('x', pro, 'y', 'a'),
      branch('y', { event: 'opened' }, 'b', 'c'),
      send('a'),
      send('b'),
      send('c'),
    )
    const start = (known: Partial<Facts>) =>
      shortly(decideWalk(graph, null, { kind: 'enrolled' }, { ...NOTHING, ...known }))
    expect(start({})).toEqual([
      ['send', 'a', 1],
      ['wait', null, 0],
    ])
    expect(start({ attributes: { plan: 'pro' } })).toEqual([
      ['send', 'c', 1],
      ['wait', null, 0],
    ])
    expect(start({ attributes: { plan: 'pro' }, events: new Set(['opened']) })).toEqual([
      ['send', 'b', 1],
      ['wait', null, 0],
    ])
  })

  it('stops at a stop, which is no completion', () => {
    const graph = read(send('a', 's'), { id: 's', type: 'stop' })
    const { position } = decideWalk(graph, null, { kind: 'enrolled' }, NOTHING)
    expect(decideWalk(graph, position, { kind: 'arrived' }, NOTHING)).toEqual({
      moved: true,
      position: { nodeId: 's', arrived: true },
      effects: [{ kind: 'stop', code: 'stop_node', reason: 'The sequence stops at its node s.' }],
    })
  })
})

describe('somebody who is waited for', () => {
  const graph = read(
    send('a', 'look', 0),
    waitFor('look', 'opened', 'again', 'nudge'),
    waitFor('again', 'opened', 'thanks', 'who'),
    branch('who', { event: 'opened' }, 'thanks', 'nudge'),
    send('nudge'),
    send('thanks'),
  )
  const onTheWay: Position = { nodeId: 'look', arrived: false }
  const there: Position = { nodeId: 'look', arrived: true }

  it('has a timeout from the moment it arrives', () => {
    expect(decideWalk(graph, onTheWay, { kind: 'arrived' }, NOTHING)).toEqual({
      moved: true,
      position: there,
      effects: [{ kind: 'timeout', nodeId: 'look', delayMs: 3 * DAY }],
    })
  })

  it('goes on when the event comes, and its timeout is canceled before anything else', () => {
    const walk = decideWalk(graph, there, event('opened'), NOTHING)
    expect(walk.effects[0]).toEqual({ kind: 'cancel', nodeId: 'look', type: 'timeout' })
    expect(walk.position).toEqual({ nodeId: 'again', arrived: true })
  })

  it('goes the other way when the timeout comes', () => {
    expect(shortly(decideWalk(graph, there, { kind: 'timed_out' }, NOTHING))).toEqual([
      ['send', 'nudge', 1],
      ['wait', null, 0],
    ])
  })

  it('needs no timeout if the event was faster than its arriving', () => {
    const known = { ...NOTHING, recentEvents: new Set(['opened']) }
    expect(shortly(decideWalk(graph, onTheWay, { kind: 'arrived' }, known))).toEqual([['timeout', 'again', 3]])
  })

  it('is moved by one event once, though two waits ask for the same', () => {
    const known = { ...NOTHING, events: new Set(['opened']), recentEvents: new Set(['opened']) }
    expect(decideWalk(graph, there, event('opened'), known).position).toEqual({ nodeId: 'again', arrived: true })
  })

  it('has had the event that moved it, also if nobody has written it down yet', () => {
    const asked = read(send('a', 'w'), waitFor('w', 'opened', 'b'), branch('b', { event: 'opened' }, 'c'), send('c'))
    const walk = decideWalk(asked, { nodeId: 'w', arrived: true }, event('opened'), NOTHING)
    expect(shortly(walk)).toContainEqual(['send', 'c', 1])
  })

  it.each<[string, Position, Happening]>([
    ['another event', there, event('clicked')],
    ['the event on the way', onTheWay, event('opened')],
    ['a timeout on the way', onTheWay, { kind: 'timed_out' }],
    ['a second arrival', there, { kind: 'arrived' }],
    ['an event at the end', { nodeId: null, arrived: true }, event('opened')],
    ['a timeout at the end', { nodeId: null, arrived: true }, { kind: 'timed_out' }],
    ['an event on the way to the end', { nodeId: null, arrived: false }, event('opened')],
  ])('is not moved by %s', (_, position, happening) => {
    expect(decideWalk(graph, position, happening, NOTHING)).toEqual({ moved: false, position, effects: [] })
  })

  it.each(STOPPING_EVENTS)('is out once it %s, wherever it is', (name) => {
    for (const position of [null, onTheWay, there]) {
      const walk = decideWalk(graph, position, event(name), NOTHING)
      expect(walk).toMatchObject({ moved: true, effects: [{ kind: 'stop', code: name }] })
      expect(decideWalk(graph, walk.position, event(name), NOTHING)).toMatchObject({ moved: false, effects: [] })
    }
  })

  it('is out for whatever reason is given', () => {
    const reason = { code: 'stopped', reason: 'Ada said so.' }
    expect(decideWalk(graph, there, { kind: 'stopped', ...reason }, NOTHING).effects).toEqual([
      { kind: 'stop', ...reason },
    ])
  })
})
