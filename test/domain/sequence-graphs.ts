/* oxlint-disable unicorn/no-thenable -- the `then` of a branch is the name of a node: nothing can await it */
import fc from 'fast-check'
import type { Json } from '../../src/domain/action.js'
import {
  COMPARISONS,
  type Condition,
  type NodeId,
  type SequenceGraph,
  type SequenceNode,
  targetsOf,
} from '../../src/domain/sequence.js'
import type { Facts } from '../../src/domain/walk.js'

/** Sequences at random, of every kind of node, valid by the way they are made: each node leads only to later ones. */
export const EVENTS = ['opened', 'clicked', 'signed_up'] as const
const MINUTE = 60_000
const MOST_NODES = 12

export const events = fc.constantFrom(...EVENTS)
const attributeValues = fc.constantFrom<Json>('free', 'pro', '7', 7, 12.5, true, ['free', 'x'])
const minutes = fc.integer({ min: 1, max: 365 * 24 * 60 }).map((count) => count * MINUTE)

const comparisons: fc.Arbitrary<Condition> = fc
  .record({
    attribute: fc.constantFrom('plan', 'company.size', 'score'),
    is: fc.constantFrom(...COMPARISONS),
    value: fc.constantFrom<string | number>('free', '7', 7, 100),
  })
  .map(({ attribute, is, value }) => {
    if (is === 'exists' || is === 'missing') return { attribute, is }
    return { attribute, is, value: is === 'in' ? [value, 'other'] : value }
  })

export const { condition: conditions } = fc.letrec<{ condition: Condition }>((tie) => ({
  condition: fc.oneof(
    { depthSize: 'small', maxDepth: 6, withCrossShrink: true },
    comparisons,
    events.map((event) => ({ event })),
    fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map((all) => ({ all })),
    fc.array(tie('condition'), { minLength: 1, maxLength: 3 }).map((any) => ({ any })),
    tie('condition').map((not) => ({ not })),
  ),
}))

export const facts: fc.Arbitrary<Facts> = fc.record({
  attributes: fc.dictionary(fc.constantFrom('plan', 'score', 'company'), attributeValues, { noNullPrototype: true }),
  events: fc.uniqueArray(events).map((names) => new Set<string>(names)),
  recentEvents: fc.uniqueArray(events).map((names) => new Set<string>(names)),
})

const nodeAt = (place: number, count: number): fc.Arbitrary<SequenceNode> => {
  const id = fc.constant(`n${place}`)
  // Mostly close by: a graph of long leaps is a small one, because what they pass over is not reached.
  const near = fc.constantFrom(1, 1, 1, 2, 3).map((step) => (place + step < count ? `n${place + step}` : null))
  const target = fc.option(near, { freq: 12 })
  const send = fc.record({
    id,
    type: fc.constant('send' as const),
    templateId: fc.constantFrom('welcome', 'reminder'),
    subject: fc.option(fc.constantFrom('Hello {{ contact.name }}', 'Re: us')),
    delayMs: minutes,
    reply: fc.boolean(),
    next: target,
  })
  const waitFor = { event: events, timeoutMs: minutes, onEvent: target, onTimeout: target }
  const branch = { condition: conditions, then: target, else: target }
  return fc.oneof(
    { arbitrary: send, weight: 5 },
    { arbitrary: fc.record({ id, type: fc.constant('wait' as const), durationMs: minutes, next: target }), weight: 2 },
    { arbitrary: fc.record({ id, type: fc.constant('wait_for' as const), ...waitFor }), weight: 5 },
    { arbitrary: fc.record({ id, type: fc.constant('branch' as const), ...branch }), weight: 3 },
    { arbitrary: fc.record({ id, type: fc.constant('stop' as const) }), weight: 1 },
  )
}

export const graphs: fc.Arbitrary<SequenceGraph> = fc
  .constantFrom(...Array.from({ length: MOST_NODES }, (_, i) => i + 1))
  .chain((count) =>
    fc.record({
      nodes: fc.tuple(...Array.from({ length: count }, (_, place) => nodeAt(place, count))),
      hurry: fc.boolean(),
      order: fc.array(fc.nat(), { minLength: count, maxLength: count }),
    }),
  )
  .map(({ nodes, hurry, order }) => {
    const reached = reachable(nodes)
    const hasSend = reached.some(({ type }) => type === 'send')
    const kept = hasSend ? reached : reachable([asSend(nodes[0]!), ...nodes.slice(1)])
    const graph = kept.map((node) => (hurry && mayComeAtOnce(node, kept) ? { ...node, delayMs: 0 } : node))
    // The start is not always the first, and steps are not always numbered in the order they come.
    const shuffled = graph.map((node, i) => ({ node, rank: order[i]! })).toSorted((a, b) => a.rank - b.rank)
    return { start: 'n0', nodes: shuffled.map(({ node }) => node) }
  })

function reachable(nodes: readonly SequenceNode[]): SequenceNode[] {
  const ids = new Set<NodeId | null>(['n0'])
  // In one pass, because each leads only to later ones.
  for (const node of nodes) if (ids.has(node.id)) for (const [, target] of targetsOf(node)) ids.add(target)
  return nodes.filter(({ id }) => ids.has(id))
}

const asSend = (node: SequenceNode): SequenceNode => ({
  id: node.id,
  type: 'send',
  templateId: 'welcome',
  subject: null,
  delayMs: MINUTE,
  reply: false,
  next: targetsOf(node)[0]?.[1] ?? null,
})

/** The first of all, or only ever after a wait. */
const mayComeAtOnce = (node: SequenceNode, nodes: readonly SequenceNode[]) =>
  node.type === 'send' &&
  nodes.every(
    (before) =>
      before.type === 'wait' ||
      before.type === 'wait_for' ||
      targetsOf(before).every(([, target]) => target !== node.id),
  )
