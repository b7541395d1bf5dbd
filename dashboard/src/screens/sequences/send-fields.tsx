import { CheckBox, Choice, TextField } from '../../ui/field'
import { type Editing, problemAt } from './editing'
import type { Node } from './sequence-queries'

type Send = Extract<Node, { type: 'send' }>

/** What an email of a sequence is made from. */
export function SendFields({
  node,
  index,
  templates,
  problems,
  isFirst,
  onChange,
}: {
  readonly node: Send
  readonly index: number
  readonly templates: Editing['templates']
  readonly problems: Editing['problems']
  readonly isFirst: boolean
  readonly onChange: (node: Send) => void
}) {
  const { subject: _, ...withoutSubject } = node
  return (
    <div className="flex flex-col gap-4">
      <Choice
        label="Template"
        value={node.template}
        error={problemAt(problems, index, 'template')}
        onChange={(event) => onChange({ ...node, template: event.target.value })}
      >
        {!templates.some(({ id }) => id === node.template) && (
          <option value={node.template}>{node.template || '—'}</option>
        )}
        {templates.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Choice>
      <TextField
        label="Subject"
        value={node.subject ?? ''}
        placeholder="the template’s"
        hint="In Liquid, instead of the template’s."
        error={problemAt(problems, index, 'subject')}
        onChange={(event) =>
          onChange(event.target.value === '' ? withoutSubject : { ...node, subject: event.target.value })
        }
      />
      {!isFirst && (
        <CheckBox
          label="Continues the thread (Re:)"
          checked={node.reply ?? true}
          onChange={(event) => onChange({ ...node, reply: event.target.checked })}
        />
      )}
    </div>
  )
}
