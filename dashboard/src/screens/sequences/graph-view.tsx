import { GitBranch, Hourglass, Mail, OctagonX, Timer } from 'lucide-react'
import type { ReactNode } from 'react'
import { layOut, NODE_HEIGHT, NODE_WIDTH, NOTED_HEIGHT } from './graph-layout'
import { describeNode, exitsOf, type Node, type NodeType } from './sequence-queries'

const ICONS: Record<NodeType, ReactNode> = {
  send: <Mail />,
  wait: <Timer />,
  wait_for: <Hourglass />,
  branch: <GitBranch />,
  stop: <OctagonX />,
}
const WORDS: Record<NodeType, string> = {
  send: 'Email',
  wait: 'Wait',
  wait_for: 'Wait for',
  branch: 'Decide',
  stop: 'Stop',
}
const COLOURS: Record<NodeType, string> = {
  send: 'border-accent/50',
  wait: 'border-line',
  wait_for: 'border-calm/60',
  branch: 'border-doubt/60',
  stop: 'border-line',
}

export const iconOf = (type: NodeType): ReactNode => ICONS[type]
export const nameOf = (type: NodeType): string => WORDS[type]

/** The sequence as a picture, with whatever is to be said at each node. Where each leads is also read out. */
export function GraphView({
  start,
  nodes,
  templateName,
  chosen,
  wrong,
  onChoose,
  note,
}: {
  readonly start: string
  readonly nodes: readonly Node[]
  readonly templateName: (id: string) => string
  readonly chosen?: string | null
  /** Nodes something is wrong with. */
  readonly wrong?: ReadonlySet<string>
  readonly onChoose?: (id: string) => void
  readonly note?: (id: string) => ReactNode
}) {
  const nodeHeight = note ? NOTED_HEIGHT : NODE_HEIGHT
  const { placed, edges, width, height } = layOut(start, nodes, nodeHeight)
  return (
    <div className="overflow-auto" tabIndex={0} role="region" aria-label="The sequence as a graph">
      <div className="relative mx-auto" style={{ width, height }}>
        <svg aria-hidden width={width} height={height} className="absolute inset-0 text-soft">
          {edges.map(({ from, to, label, path, labelAt }, i) => (
            <g key={`${from}-${to}-${label}-${i}`}>
              <path
                d={path}
                fill="none"
                stroke="currentColor"
                strokeWidth="1.5"
                strokeDasharray={to === null ? '3 3' : undefined}
              />
              {(label || to === null) && (
                <text
                  x={labelAt.x}
                  y={labelAt.y}
                  textAnchor="middle"
                  className="fill-(--soft) text-[11px]"
                  paintOrder="stroke"
                  stroke="var(--panel)"
                  strokeWidth="4"
                >
                  {to === null ? `${label ? `${label}: ` : ''}the end` : label}
                </text>
              )}
            </g>
          ))}
        </svg>
        {placed.map(({ node, x, y }) => {
          const leads = exitsOf(node).map(({ label, to }) => `${label ? `${label}: ` : ''}${to ?? 'the end'}`)
          const common = {
            className: `absolute flex flex-col gap-0.5 overflow-hidden rounded-lg border-2 bg-panel px-3 py-2 text-left ${COLOURS[node.type]} ${chosen === node.id ? 'ring-2 ring-accent' : ''} ${wrong?.has(node.id) ? 'border-bad!' : ''}`,
            style: { left: x, top: y, width: NODE_WIDTH, height: nodeHeight },
          }
          const inside = (
            <>
              <span className="flex items-center gap-1.5 text-xs font-semibold [&_svg]:size-3.5">
                {iconOf(node.type)} {nameOf(node.type)}
                <span className="ml-auto truncate font-mono font-normal text-soft">{node.id}</span>
              </span>
              <span className="truncate text-xs text-soft" title={describeNode(node, templateName)}>
                {describeNode(node, templateName)}
              </span>
              <span className="sr-only">{leads.length > 0 && `leads to ${leads.join(', ')}`}</span>
              {note && <span className="mt-auto flex flex-wrap gap-1 text-xs">{note(node.id)}</span>}
            </>
          )
          return onChoose ? (
            <button
              type="button"
              key={node.id}
              aria-pressed={chosen === node.id}
              onClick={() => onChoose(node.id)}
              {...common}
            >
              {inside}
            </button>
          ) : (
            <div key={node.id} {...common}>
              {inside}
            </div>
          )
        })}
      </div>
    </div>
  )
}
