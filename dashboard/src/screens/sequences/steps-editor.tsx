import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react'
import { Button, IconButton } from '../../ui/button'
import { DelayFields } from './delay-fields'
import { type Editing, freshId, problemAt } from './editing'
import { SendFields } from './send-fields'
import type { Node } from './sequence-queries'

type Send = Extract<Node, { type: 'send' }>

/** The emails in the order they come, if that is all there is. */
function chainOf({ start, nodes }: Editing['draft']): readonly Send[] | null {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const chain: Send[] = []
  for (let id: string | undefined = start; id !== undefined;) {
    const node = byId.get(id)
    if (node?.type !== 'send' || chain.includes(node)) return null
    chain.push(node)
    id = node.next
  }
  return chain.length === nodes.length ? chain : null
}

export const isChain = (draft: Editing['draft']): boolean => chainOf(draft) !== null

/** One email after the other: the common case, without nodes and arrows. */
export function StepsEditor({ draft, setDraft, templates, problems }: Editing) {
  const chain = chainOf(draft) ?? []
  const set = (steps: readonly Send[]) => {
    const nodes = steps.map((step, i): Send => {
      const { next: _next, delay, ...rest } = step
      const next = steps[i + 1]?.id
      return { ...rest, ...(i > 0 && { delay: delay ?? { days: 3 } }), ...(next !== undefined && { next }) }
    })
    setDraft({ start: nodes[0]!.id, nodes })
  }
  const change = (index: number, changed: Send) => set(chain.map((step, i) => (i === index ? changed : step)))
  const move = (index: number, by: number) => {
    const steps = [...chain]
    const [step] = steps.splice(index, 1)
    steps.splice(index + by, 0, step!)
    set(steps)
  }
  const add = () =>
    set([
      ...chain,
      { id: freshId(draft.nodes, 'step'), type: 'send', template: templates[0]?.id ?? '', delay: { days: 3 } },
    ])
  return (
    <ol className="flex flex-col gap-3">
      {chain.map((step, i) => {
        const place = draft.nodes.indexOf(step)
        return (
          <li key={step.id} className="rounded-lg border p-4">
            <div className="mb-3 flex items-center justify-between">
              <h2 className="text-sm font-semibold">Email {i + 1}</h2>
              <span className="flex">
                <IconButton
                  label={`Move email ${i + 1} up`}
                  icon={<ArrowUp />}
                  disabled={i === 0}
                  onClick={() => move(i, -1)}
                />
                <IconButton
                  label={`Move email ${i + 1} down`}
                  icon={<ArrowDown />}
                  disabled={i === chain.length - 1}
                  onClick={() => move(i, 1)}
                />
                <IconButton
                  label={`Remove email ${i + 1}`}
                  icon={<Trash2 />}
                  disabled={chain.length === 1}
                  onClick={() => set(chain.filter((one) => one !== step))}
                />
              </span>
            </div>
            <div className="grid gap-4 lg:grid-cols-2">
              <SendFields
                node={step}
                index={place}
                templates={templates}
                problems={problems}
                onChange={(changed) => change(i, changed)}
                isFirst={i === 0}
              />
              {i > 0 && (
                <DelayFields
                  label="After the email before really went out"
                  value={step.delay}
                  error={problemAt(problems, place, 'delay')}
                  onChange={(delay) => change(i, { ...step, delay })}
                />
              )}
            </div>
          </li>
        )
      })}
      <li>
        <Button icon={<Plus />} onClick={add}>
          Another email
        </Button>
      </li>
    </ol>
  )
}
