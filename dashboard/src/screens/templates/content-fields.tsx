import { useRef } from 'react'
import { TextField } from '../../ui/field'
import type { Person } from './contact-choice'
import { InsertMenu, SourceField } from './source-field'
import type { Content } from './template-queries'
import type { PreviewState } from './use-preview'

/** What templates of campaigns may speak of, whoever the contact is. */
const VARIABLES = [
  'contact.name',
  'contact.email',
  'unsubscribe_url',
  'list.name',
  'campaign.name',
  'sender.name',
  'sender.email',
]

const variablesOf = (person: Person | null): string[] => [
  ...new Set([...VARIABLES, ...Object.keys(person?.attributes ?? {}).map((name) => `contact.${name}`)]),
]

/** Subject, html and text, each with what is wrong with it where it is wrong. */
export function ContentFields({
  content,
  onChange,
  marks,
  person,
  readOnly = false,
}: {
  readonly content: Content
  readonly onChange: (content: Content) => void
  readonly marks: PreviewState['marks']
  /** Whose attributes can be put in. */
  readonly person: Person | null
  readonly readOnly?: boolean
}) {
  const box = useRef<HTMLDivElement>(null)
  const variables = variablesOf(person)
  const set = (part: keyof Content) => (value: string) => onChange({ ...content, [part]: value })
  const insert = (name: string) => {
    const field = box.current?.querySelector('input')
    const { subject } = content
    const [start, end] = [field?.selectionStart ?? subject.length, field?.selectionEnd ?? subject.length]
    set('subject')(`${subject.slice(0, start)}{{ ${name} }}${subject.slice(end)}`)
  }
  const said = (mood: 'bad' | 'warn') =>
    marks.subject
      .filter((mark) => mark.mood === mood)
      .map(({ detail }) => detail)
      .join('; ')
  return (
    <>
      <div ref={box} className="relative">
        <TextField
          label="Subject"
          value={content.subject}
          readOnly={readOnly}
          error={said('bad') || undefined}
          hint={said('warn') ? <span className="text-warn">{said('warn')}</span> : undefined}
          onChange={(event) => set('subject')(event.target.value)}
        />
        {!readOnly && (
          <span className="absolute top-[-0.25rem] right-0">
            <InsertMenu label="the subject" variables={variables} onInsert={insert} />
          </span>
        )}
      </div>
      <SourceField
        label="HTML"
        hint="Liquid. Styles in <style> are written into the tags when it is sent."
        lines={18}
        value={content.html}
        onChange={set('html')}
        marks={marks.html}
        variables={variables}
        readOnly={readOnly}
      />
      <SourceField
        label="Text"
        hint="For those who read no html. Derived from it when this is empty."
        lines={6}
        value={content.text}
        onChange={set('text')}
        marks={marks.text}
        variables={variables}
        readOnly={readOnly}
      />
    </>
  )
}
