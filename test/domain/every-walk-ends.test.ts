import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type SequenceGraph, STOPPING_EVENTS, stepNumbers } from '../../src/domain/sequence.js'
import { decideWalk, type Facts, type Happening, type Walk } from '../../src/domain/walk.js'
import { events, facts, graphs } from './sequence-graphs.js'

const [MINUTE, DAY] = [60_000, 86_400_000]
const event = (name: string): Happening => ({ kind: 'event', event: name })

const happenings: fc.Arbitrary<Happening> = fc.oneof(
  { arbitrary: fc.constant<Happening>({ kind: 'arrived' }), weight: 4 },
  { arbitrary: fc.constant<Happening>({ kind: 'timed_out' }), weight: 3 },
  { arbitrary: events.map(event), weight: 4 },
  { arbitrary: fc.constantFrom(...STOPPING_EVENTS).map(event), weight: 1 },
  fc.constant<Happening>({ kind: 'enrolled' }),
  fc.constant<Happening>({ kind: 'stopped', code: 'stopped', reason: 'Somebody said so.' }),
)
const stories = fc.array(fc.tuple(happenings, facts), { maxLength: 30 })
const ends = ({ effects }: Walk) => effects.filter(({ kind }) => kind === 'complete' || kind === 'stop')

/** All that becomes of somebody, whatever happens in whatever order. */
function tell(graph: SequenceGraph, first: Facts, story: readonly (readonly [Happening, Facts])[]): Walk[] {
  const walks = [decideWalk(graph, null, { kind: 'enrolled' }, first)]
  for (const [happening, known] of story) walks.push(decideWalk(graph, walks.at(-1)!.position, happening, known))
  return walks
}

/** What is waited for now, and nothing else, until it is over. */
function finish(graph: SequenceGraph, from: Walk, known: Facts): Walk[] {
  const walks: Walk[] = []
  let { position } = from
  for (let i = 0; i <= graph.nodes.length + 1; i++) {
    const walk = decideWalk(graph, position, { kind: position.arrived ? 'timed_out' : 'arrived' }, known)
    if (!walk.moved) break
    walks.push(walk)
    position = walk.position
  }
  return walks
}

describe('every walk', () => {
  const told = (check: (graph: SequenceGraph, walks: readonly Walk[]) => void) =>
    fc.assert(
      fc.property(graphs, facts, stories, facts, (graph, first, story, last) => {
        const walks = tell(graph, first, story)
        check(graph, [...walks, ...finish(graph, walks.at(-1)!, last)])
      }),
      { numRuns: 1_500 },
    )

  it('ends once, in no more moves than there are nodes and the end', () =>
    told((graph, walks) => {
      expect(walks.flatMap(ends)).toHaveLength(1)
      expect(walks.filter(({ moved }) => moved).length).toBeLessThanOrEqual(graph.nodes.length + 2)
    }))

  it('plans each email once at most, under its own number', () =>
    told((graph, walks) => {
      const sends = walks.flatMap(({ effects }) => effects.filter((effect) => effect.kind === 'send'))
      expect(new Set(sends.map(({ nodeId }) => nodeId)).size).toBe(sends.length)
      for (const { nodeId, stepNumber } of sends) expect(stepNumbers(graph).get(nodeId)).toBe(stepNumber)
    }))

  it('does nothing once it is over, and nothing when it does not move', () =>
    told((_, walks) => {
      const last = walks.findIndex((walk) => ends(walk).length > 0)
      for (const { moved, effects } of walks.slice(last + 1)) expect([moved, effects]).toEqual([false, []])
      for (const { effects } of walks.filter(({ moved }) => !moved)) expect(effects).toEqual([])
      for (const walk of walks.slice(last, last + 1)) expect(walk.effects.at(-1)).toEqual(ends(walk)[0])
    }))

  it('waits for exactly one thing after every move: its emails, or a timeout, of the place it is at', () =>
    told((graph, walks) => {
      for (const walk of walks.filter((each) => each.moved && ends(each).length === 0)) {
        const clocks = walk.effects.filter(({ kind }) => kind === 'wait' || kind === 'timeout')
        const { nodeId, arrived } = walk.position
        expect(clocks).toMatchObject([{ kind: arrived ? 'timeout' : 'wait', nodeId }])
        for (const effect of walk.effects) if ('delayMs' in effect) expect(effect.delayMs).toBeGreaterThanOrEqual(0)
        const node = graph.nodes.find(({ id }) => id === nodeId)
        if (arrived) expect(node?.type).toBe('wait_for')
        else expect(['branch', 'wait_for', 'stop', undefined]).toContain(node?.type)
      }
    }))

  it('is moved by an event or by its timeout, by the first of the two and not by both', () => {
    fc.assert(
      fc.property(graphs, events, fc.boolean(), facts, (tail, name, isEventFirst, known) => {
        const emails = [
          { id: 'yes', type: 'send', templateId: 'y', subject: null, delayMs: MINUTE, reply: true, next: tail.start },
          { id: 'no', type: 'send', templateId: 'n', subject: null, delayMs: MINUTE, reply: true, next: tail.start },
        ] as const
        const start = {
          id: 'w',
          type: 'wait_for',
          event: name,
          timeoutMs: DAY,
          onEvent: 'yes',
          onTimeout: 'no',
        } as const
        const graph = { start: 'w', nodes: [start, ...emails, ...tail.nodes] }
        const racers: Happening[] = [event(name), { kind: 'timed_out' }]
        const [first, second] = isEventFirst ? racers : racers.toReversed()
        const won = decideWalk(graph, { nodeId: 'w', arrived: true }, first!, known)
        const lost = decideWalk(graph, won.position, second!, known)
        expect([won.moved, lost.moved]).toEqual([true, false])
        const planned = [won, lost].flatMap(({ effects }) => effects.filter((effect) => effect.kind === 'send'))
        expect(planned[0]?.nodeId).toBe(isEventFirst ? 'yes' : 'no')
        expect(planned.map(({ nodeId }) => nodeId)).not.toContain(isEventFirst ? 'no' : 'yes')
        expect(won.effects.some(({ kind }) => kind === 'cancel')).toBe(isEventFirst)
      }),
      { numRuns: 1_000 },
    )
  })
})
