import { useState } from 'react'
import { Choice, TextArea, TextField } from '../../ui/field'
import { DelayFields } from './delay-fields'
import { type Editing, problemAt } from './editing'
import { nameOf } from './graph-view'
import { SendFields } from './send-fields'
import { exitsOf, type Node } from './sequence-queries'

/** One node, by its type. */
export function NodeForm({
  node,
  index,
  editing,
  onChange,
}: {
  readonly node: Node
  readonly index: number
  readonly editing: Editing
  readonly onChange: (node: Node) => void
}) {
  const { draft, templates, problems } = editing
  const about = (field: string) => problemAt(problems, index, field)
  return (
    <fieldset className="flex flex-col gap-4 rounded-lg border p-4">
      <legend className="px-1 text-sm font-semibold">{nameOf(node.type)}</legend>
      <TextField
        label="Name of the node"
        value={node.id}
        error={about('id')}
        onChange={(event) => onChange({ ...node, id: event.target.value })}
      />
      {node.type === 'send' && (
        <>
          <SendFields
            node={node}
            index={index}
            templates={templates}
            problems={problems}
            isFirst={draft.start === node.id}
            onChange={onChange}
          />
          <DelayFields
            label="Delay after what came before"
            value={node.delay}
            error={about('delay')}
            onChange={(delay) => onChange({ ...node, delay })}
          />
        </>
      )}
      {node.type === 'wait' && (
        <DelayFields
          label="How long"
          value={node.duration}
          error={about('duration')}
          onChange={(duration) => onChange({ ...node, duration })}
        />
      )}
      {node.type === 'wait_for' && (
        <>
          <TextField
            label="Event"
            value={node.event}
            hint="opened, clicked, or a name of your own."
            error={about('event')}
            onChange={(event) => onChange({ ...node, event: event.target.value })}
          />
          <DelayFields
            label="At most"
            value={node.timeout}
            error={about('timeout')}
            onChange={(timeout) => onChange({ ...node, timeout })}
          />
        </>
      )}
      {node.type === 'branch' && <ConditionField node={node} error={about('if')} onChange={onChange} />}
      {exitsOf(node).map(({ label, field, to }) => (
        <Choice
          key={field}
          label={
            field === 'next'
              ? 'Then comes'
              : field === 'then'
                ? 'If it holds'
                : field === 'else'
                  ? 'If not'
                  : field === 'on_event'
                    ? `When “${label}” comes`
                    : 'When its time is up'
          }
          value={to ?? ''}
          error={about(field)}
          onChange={(event) => onChange(lead(node, field, event.target.value))}
        >
          <option value="">the end</option>
          {draft.nodes
            .filter(({ id }) => id !== node.id)
            .map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
        </Choice>
      ))}
    </fieldset>
  )
}

function lead(node: Node, field: string, to: string): Node {
  const changed: Record<string, unknown> = { ...node }
  if (to === '') delete changed[field]
  else changed[field] = to
  return changed as Node
}

type Branch = Extract<Node, { type: 'branch' }>

/** Conditions nest, so they are written as JSON; what cannot be read stays in the field until it can. */
function ConditionField({
  node,
  error,
  onChange,
}: {
  readonly node: Branch
  readonly error?: string | undefined
  readonly onChange: (node: Node) => void
}) {
  const [text, setText] = useState(() => JSON.stringify(node.if, null, 2))
  const [unread, setUnread] = useState(false)
  const read = (written: string) => {
    setText(written)
    try {
      onChange({ ...node, if: JSON.parse(written) as Branch['if'] })
      setUnread(false)
    } catch {
      setUnread(true)
    }
  }
  return (
    <TextArea
      label="Condition"
      className="font-mono text-xs"
      value={text}
      error={unread ? 'is not JSON yet' : error}
      hint={
        '{"event": "clicked"}, {"attribute": "plan", "is": "equals", "value": "pro"}, {"all": […]}, {"any": […]}, {"not": {…}}'
      }
      onChange={(event) => read(event.target.value)}
    />
  )
}
