import { exitsOf, type Node } from './sequence-queries'

export interface Placed {
  readonly node: Node
  readonly x: number
  readonly y: number
}
export interface Edge {
  readonly from: string
  /** Null: the end, which is drawn as a short stub. */
  readonly to: string | null
  readonly label: string
  readonly path: string
  readonly labelAt: { readonly x: number; readonly y: number }
}
export interface Layout {
  readonly placed: readonly Placed[]
  readonly edges: readonly Edge[]
  readonly width: number
  readonly height: number
}

export const NODE_WIDTH = 208
export const NODE_HEIGHT = 76
/** With two lines of numbers below it. */
export const NOTED_HEIGHT = 102
const GAP_X = 40
const GAP_Y = 64
const MARGIN = 16

/**
 * From top to bottom: a node stands below everything that leads to it, beside those of its own depth in the order in which
 * they were met. A graph that goes round in a circle, which somebody may be about to write, is cut where it closes.
 */
export function layOut(start: string, nodes: readonly Node[], nodeHeight: number): Layout {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const depth = new Map<string, number>()
  let settled: ReadonlySet<string> = new Set()
  const visit = (id: string, at: number, above: ReadonlySet<string>) => {
    const node = byId.get(id)
    if (!node || settled.has(id) || above.has(id) || (depth.get(id) ?? -1) >= at) return
    depth.set(id, at)
    for (const { to } of exitsOf(node)) if (to !== null) visit(to, at + 1, new Set([...above, id]))
  }
  visit(start, 0, new Set())
  const deepest = Math.max(-1, ...depth.values())
  // What nothing leads to is shown below, where it can be seen to be so, and moves nothing of the rest.
  settled = new Set(depth.keys())
  for (const { id } of nodes) visit(id, deepest + 1, new Set())

  const rows: Node[][] = []
  for (const node of nodes) (rows[depth.get(node.id)!] ??= []).push(node)
  const widest = Math.max(1, ...rows.filter(Boolean).map((row) => row.length))
  const width = widest * (NODE_WIDTH + GAP_X) - GAP_X + 2 * MARGIN
  const placed = rows.flatMap((row, level) => {
    const rowWidth = row.length * (NODE_WIDTH + GAP_X) - GAP_X
    return row.map((node, i) => ({
      node,
      x: (width - rowWidth) / 2 + i * (NODE_WIDTH + GAP_X),
      y: MARGIN + level * (nodeHeight + GAP_Y),
    }))
  })
  const at = new Map(placed.map((one) => [one.node.id, one]))
  const edges = placed.flatMap((one) => {
    const exits = exitsOf(one.node)
    return exits.map(({ label, to }, i): Edge => {
      const startX = one.x + (NODE_WIDTH * (i + 1)) / (exits.length + 1)
      const startY = one.y + nodeHeight
      const target = to === null ? undefined : at.get(to)
      const endX = target ? target.x + NODE_WIDTH / 2 : startX
      const endY = target ? target.y : startY + 20
      const bend = (endY - startY) / 2
      return {
        from: one.node.id,
        to,
        label,
        path: `M ${startX} ${startY} C ${startX} ${startY + bend}, ${endX} ${endY - bend}, ${endX} ${endY}`,
        labelAt: { x: startX + (endX - startX) * 0.25, y: startY + 16 },
      }
    })
  })
  const height = rows.length * (nodeHeight + GAP_Y) - GAP_Y + 2 * MARGIN + 24
  return { placed, edges, width, height }
}
