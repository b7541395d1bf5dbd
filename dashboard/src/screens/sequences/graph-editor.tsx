import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button'
import { Choice } from '../../ui/field'
import { type Editing, freshId } from './editing'
import { GraphView, nameOf } from './graph-view'
import { NodeForm } from './node-form'
import { exitsOf, type Node, type NodeType } from './sequence-queries'

const TYPES: readonly NodeType[] = ['send', 'wait', 'wait_for', 'branch', 'stop']

/** The sequence as nodes: chosen in the picture, written beside it. */
export function GraphEditor(editing: Editing) {
  const { draft, setDraft, templates, problems } = editing
  const [chosen, setChosen] = useState<string | null>(draft.start)
  const [type, setType] = useState<NodeType>('send')
  const index = draft.nodes.findIndex(({ id }) => id === chosen)
  const node = draft.nodes[index]
  const wrong = new Set(
    problems.flatMap(({ pointer }) => draft.nodes[Number(/^\/nodes\/(\d+)/.exec(pointer)?.[1] ?? -1)]?.id ?? []),
  )
  const templateName = (id: string) => templates.find((one) => one.id === id)?.name ?? id
  const replace = (changed: Node) => {
    const before = node!.id
    const nodes = draft.nodes.map((one, i) => (i === index ? changed : renameTarget(one, before, changed.id)))
    setDraft({ start: draft.start === before ? changed.id : draft.start, nodes })
    setChosen(changed.id)
  }
  const add = () => {
    const made = newNode(type, freshId(draft.nodes, type.replace('_', '-')), templates[0]?.id ?? '')
    // Behind the node that is chosen, if that leads to the end; otherwise it waits to be led to.
    const open = node && exitsOf(node).find(({ to }) => to === null)
    const nodes = draft.nodes.map((one) => (open && one === node ? { ...one, [open.field]: made.id } : one))
    setDraft({ start: draft.nodes.length === 0 ? made.id : draft.start, nodes: [...nodes, made] })
    setChosen(made.id)
  }
  const remove = () => {
    const next = node && exitsOf(node)[0]?.to
    const nodes = draft.nodes.filter((one) => one !== node).map((one) => renameTarget(one, node!.id, next ?? null))
    setDraft({ start: draft.start === node!.id ? (next ?? nodes[0]?.id ?? '') : draft.start, nodes })
    setChosen(next ?? nodes[0]?.id ?? null)
  }
  return (
    <div className="grid gap-4 xl:grid-cols-[1fr_22rem]">
      <div className="min-w-0 rounded-lg border bg-sunken/40">
        <GraphView
          start={draft.start}
          nodes={draft.nodes}
          templateName={templateName}
          chosen={chosen}
          wrong={wrong}
          onChoose={setChosen}
        />
      </div>
      <div className="flex min-w-0 flex-col gap-4">
        <div className="flex items-end gap-2">
          <div className="flex-1">
            <Choice label="Another node" value={type} onChange={(event) => setType(event.target.value as NodeType)}>
              {TYPES.map((one) => (
                <option key={one} value={one}>
                  {nameOf(one)}
                </option>
              ))}
            </Choice>
          </div>
          <Button icon={<Plus />} onClick={add}>
            Add
          </Button>
        </div>
        {node && (
          <>
            <NodeForm key={index} node={node} index={index} editing={editing} onChange={replace} />
            <div className="flex flex-wrap gap-2">
              {draft.start !== node.id && (
                <Button small onClick={() => setDraft({ ...draft, start: node.id })}>
                  Start here
                </Button>
              )}
              <Button small tone="danger" icon={<Trash2 />} disabled={draft.nodes.length === 1} onClick={remove}>
                Remove this node
              </Button>
            </div>
          </>
        )}
      </div>
    </div>
  )
}

/** Whatever led to a node leads to where it is now; to nowhere, if it is gone. */
function renameTarget(node: Node, from: string, to: string | null): Node {
  const changed: Record<string, unknown> = { ...node }
  for (const { field, to: target } of exitsOf(node)) {
    if (target !== from) continue
    if (to === null) delete changed[field]
    else changed[field] = to
  }
  return changed as Node
}

function newNode(type: NodeType, id: string, template: string): Node {
  switch (type) {
    case 'send':
      return { id, type, template, delay: { days: 3 } }
    case 'wait':
      return { id, type, duration: { days: 1 } }
    case 'wait_for':
      return { id, type, event: 'clicked', timeout: { days: 3 } }
    case 'branch':
      return { id, type, if: { event: 'clicked' } }
    case 'stop':
      return { id, type }
  }
}
