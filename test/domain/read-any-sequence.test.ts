/* oxlint-disable unicorn/no-thenable -- the `then` of a branch is the name of a node: nothing can await it */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readSequence, showSequence } from '../../src/domain/read-sequence.js'
import { findNode, type SequenceGraph, targetsOf } from '../../src/domain/sequence.js'
import { graphs } from './sequence-graphs.js'

const send = (id: string, more: object = {}) => ({ id, type: 'send', template: 'tpl', delay: { days: 1 }, ...more })

describe('whatever is written', () => {
  it('a sequence that is shown is read back as it was', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const shown = JSON.parse(JSON.stringify(showSequence(graph))) as unknown
        expect(readSequence(shown)).toEqual({ graph })
      }),
      { numRuns: 1_000 },
    )
  })

  it('garbage is refused in words, never by a crash', () => {
    const garbage = fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true, withMap: true })
    const shapes = fc.oneof(
      garbage,
      fc.record({ nodes: garbage, start: garbage }, { requiredKeys: ['nodes'] }),
      fc.record({ nodes: fc.array(garbage) }),
      fc.record({ steps: fc.array(garbage) }),
    )
    fc.assert(
      fc.property(shapes, (input) => {
        const { problems } = readSequence(input)
        expect(problems?.length).toBeGreaterThan(0)
      }),
      { numRuns: 2_000 },
    )
  })

  it('a sequence with garbage somewhere in it is refused in words, or can be shown', () => {
    const garbage = fc.oneof(fc.anything({ maxDepth: 1 }), fc.constantFrom('n0', 'n1', 'end', 'send', 0, 1))
    fc.assert(
      fc.property(graphs, fc.array(fc.nat(), { maxLength: 6 }), garbage, (graph, route, value) => {
        const input = structuredClone(showSequence(graph)) as unknown
        plant(input, route, value)
        const { graph: read, problems } = readSequence(input)
        if (read) expect(readSequence(showSequence(read))).toEqual({ graph: read })
        else for (const { detail } of problems) expect(detail).toMatch(/\w/)
      }),
      { numRuns: 3_000 },
    )
  })

  it('nodes are taken exactly if each can be reached, all ways end, and all targets are there', () => {
    const places = fc.integer({ min: 1, max: 6 })
    const wild = places.chain((count) =>
      fc.array(fc.tuple(target(count), target(count)), { minLength: count, maxLength: count }),
    )
    let taken = 0
    fc.assert(
      fc.property(wild, (targets) => {
        const nodes = targets.map(([then, other], i) =>
          i === 0
            ? send('n0', { next: then })
            : { id: `n${i}`, type: 'branch', if: { event: 'opened' }, then, else: other },
        )
        const ways = waysFrom(targets.map(([then, other], i) => (i === 0 ? [then] : [then, other])))
        if (ways !== null) taken++
        expect(readSequence({ nodes }).graph !== undefined).toBe(ways !== null)
      }),
      { numRuns: 3_000 },
    )
    expect(taken).toBeGreaterThan(50)
  })

  it('two emails come at once on no way, and an email replies unless told if one can have come before', () => {
    const seen = { taken: 0, refused: 0 }
    fc.assert(
      fc.property(graphs, fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }), (graph, atOnce) => {
        const nodes = graph.nodes.map((node, i) => (node.type === 'send' && atOnce[i] ? { ...node, delayMs: 0 } : node))
        const { rushed, replying } = followEveryWay({ ...graph, nodes })
        const shown = showSequence({ ...graph, nodes }).nodes.map(({ ...node }) => ({ ...node, reply: undefined }))
        const { graph: read, problems = [] } = readSequence({ start: graph.start, nodes: shown })
        seen[read ? 'taken' : 'refused']++
        expect(new Set(problems.map(({ path }) => nodes[path[1] as number]!.id))).toEqual(rushed)
        for (const node of read?.nodes ?? [])
          if (node.type === 'send') expect([node.id, node.reply]).toEqual([node.id, replying.has(node.id)])
      }),
      { numRuns: 1_500 },
    )
    expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(100)
  })
})

const target = (count: number) =>
  fc.oneof(
    fc.constant(null),
    fc.nat({ max: count }).map((place) => `n${place}`),
  )

/** Every way there is, walked one by one; null if one of them comes back, leads nowhere, or a node is on none. */
function waysFrom(targets: readonly (readonly (string | null)[])[]): number | null {
  const met = new Set<string>()
  let ways = 0
  const walk = (id: string | null, before: readonly string[]): boolean => {
    if (id === null) return ++ways > 0
    const next = targets[Number(id.slice(1))]
    if (!next || before.includes(id)) return false
    met.add(id)
    return next.every((to) => walk(to, [...before, id]))
  }
  return walk('n0', []) && met.size === targets.length ? ways : null
}

/** Puts a value somewhere inside, by numbers that lead down. */
function plant(within: unknown, route: readonly number[], value: unknown) {
  let parent = within as Record<string, unknown>
  for (const [depth, turn] of route.entries()) {
    const keys = Object.keys(parent)
    const key = keys[turn % Math.max(keys.length, 1)]
    if (key === undefined) return
    const child = parent[key]
    if (depth === route.length - 1 || typeof child !== 'object' || child === null) {
      parent[key] = value
      return
    }
    parent = child as Record<string, unknown>
  }
}

/** The emails that come at the same moment as another, and those that come after one, on any of all ways. */
function followEveryWay(graph: SequenceGraph) {
  const [rushed, replying] = [new Set<string>(), new Set<string>()]
  const walk = (id: string | null, isMailed: boolean, isJustMailed: boolean) => {
    const node = id === null ? null : findNode(graph, id)
    if (!node) return
    const isSend = node.type === 'send'
    if (isSend && isMailed) replying.add(node.id)
    if (isSend && isJustMailed && node.delayMs === 0) rushed.add(node.id)
    const stays = isSend || (isJustMailed && node.type === 'branch')
    for (const [, next] of targetsOf(node)) walk(next, isMailed || isSend, stays)
  }
  walk(graph.start, false, false)
  return { rushed, replying }
}
