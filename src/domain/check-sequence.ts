import type { FieldProblem, Path } from './read-fields.js'
import { type NodeId, type SequenceNode, targetsOf } from './sequence.js'

export interface CheckedSequence {
  readonly problems: readonly FieldProblem[]
  /** Those that may come after an email. */
  readonly mailedBefore: ReadonlySet<NodeId>
}

/**
 * What is wrong with the nodes as a whole: none leads back to itself, each can be reached, and no two emails come at
 * once. A target that is no node counts as the end here, because that is said elsewhere; then nothing is said about
 * what cannot be reached either, which may be only its consequence.
 */
export function checkSequence(
  nodes: ReadonlyMap<NodeId, SequenceNode>,
  start: NodeId | null,
  { pathOf, isWhole }: { readonly pathOf: (id: NodeId) => Path; readonly isWhole: boolean },
): CheckedSequence {
  const edges: Edges = (id) =>
    targetsOf(nodes.get(id)!).filter(
      (edge): edge is readonly [string, NodeId] => edge[1] !== null && nodes.has(edge[1]),
    )
  const problems: FieldProblem[] = []
  const { reached, cycles } = survey(start, [...nodes.keys()], edges)
  for (const { from, field, cycle } of cycles)
    problems.push({
      path: [...pathOf(from), field],
      detail: `never ends: ${cycle.join(' → ')}. Let it lead elsewhere, or leave it out for the end`,
    })
  if (isWhole)
    for (const id of nodes.keys())
      if (!reached.has(id))
        problems.push({ path: pathOf(id), detail: 'is never reached: let a node lead to it, or remove it' })

  const { mailedBefore, mailedJustBefore } = followEmails(
    [...reached].map((id) => nodes.get(id)!),
    edges,
  )
  for (const id of reached) {
    const node = nodes.get(id)!
    if (node.type === 'send' && node.delayMs === 0 && mailedJustBefore.has(id))
      problems.push({
        path: [...pathOf(id), 'delay'],
        detail: 'is needed: another email comes right before it. Write for example {"days": 2}, or put a wait between',
      })
  }
  return { problems, mailedBefore }
}

type Edges = (id: NodeId) => readonly (readonly [field: string, target: NodeId])[]

/** Which nodes may come after an email, and which of them at the same moment; passed on until nothing changes. */
function followEmails(nodes: readonly SequenceNode[], edges: Edges) {
  const mailedBefore = new Set<NodeId>()
  const mailedJustBefore = new Set<NodeId>()
  let known: number
  do {
    known = mailedBefore.size + mailedJustBefore.size
    for (const { id, type } of nodes)
      for (const [, target] of edges(id)) {
        const passesTime = type === 'wait' || type === 'wait_for'
        if (type === 'send' || mailedBefore.has(id)) mailedBefore.add(target)
        if (type === 'send' || (mailedJustBefore.has(id) && !passesTime)) mailedJustBefore.add(target)
      }
  } while (mailedBefore.size + mailedJustBefore.size > known)
  return { mailedBefore, mailedJustBefore }
}

interface Survey {
  /** From the start. */
  readonly reached: ReadonlySet<NodeId>
  readonly cycles: readonly { readonly from: NodeId; readonly field: string; readonly cycle: readonly NodeId[] }[]
}

/** Depth first, from the start before all others. As deep as there are nodes, of which there are few. */
function survey(start: NodeId | null, ids: readonly NodeId[], edges: Edges): Survey {
  const seen = new Set<NodeId>()
  const trail: NodeId[] = []
  const cycles: Survey['cycles'][number][] = []
  const visit = (id: NodeId) => {
    seen.add(id)
    trail.push(id)
    for (const [field, target] of edges(id)) {
      const at = trail.indexOf(target)
      if (at !== -1) cycles.push({ from: id, field, cycle: [...trail.slice(at), target] })
      else if (!seen.has(target)) visit(target)
    }
    trail.pop()
  }
  if (start !== null) visit(start)
  const reached = new Set(seen)
  for (const id of ids) if (!seen.has(id)) visit(id)
  return { reached, cycles }
}
