import { type FormEvent, useState } from 'react'
import { ProblemError } from '../../api/problem'
import type { Shape } from '../../api/types'
import { Button } from '../../ui/button'
import { TextArea, TextField, textOf } from '../../ui/field'
import { ProblemNote } from '../../ui/problem-note'

export interface ContactFields {
  readonly email: string
  readonly name: string | null
  readonly timezone: string | null
  readonly attributes: Record<string, unknown>
}

export function ContactForm({
  contact,
  action,
  error,
  busy,
  onSubmit,
  onCancel,
}: {
  readonly contact?: Shape<'Contact'>
  readonly action: string
  readonly error: unknown
  readonly busy: boolean
  readonly onSubmit: (fields: ContactFields) => void
  readonly onCancel: () => void
}) {
  const [wrongJson, setWrongJson] = useState<string | undefined>()
  const problem = error instanceof ProblemError ? error : null
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const attributes = readAttributes(textOf(form, 'attributes'), contact?.attributes ?? {})
    setWrongJson(attributes === null ? 'must be a JSON object, such as {"plan": "pro"}' : undefined)
    if (attributes === null) return
    const orNull = (name: string) => textOf(form, name).trim() || null
    onSubmit({ email: textOf(form, 'email'), name: orNull('name'), timezone: orNull('timezone'), attributes })
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        label="Address"
        name="email"
        defaultValue={contact?.email}
        error={problem?.about('/email')}
        autoFocus
        required
      />
      <TextField label="Name" name="name" defaultValue={contact?.name ?? ''} error={problem?.about('/name')} />
      <TextField
        label="Timezone"
        name="timezone"
        defaultValue={contact?.timezone ?? ''}
        placeholder="Europe/Paris"
        hint="Empty: the sender’s."
        error={problem?.about('/timezone')}
      />
      <TextArea
        label="Attributes"
        name="attributes"
        className="font-mono text-xs"
        defaultValue={JSON.stringify(contact?.attributes ?? {}, null, 2)}
        hint="JSON. What templates may speak of."
        error={wrongJson ?? problem?.about('/attributes')}
      />
      {error != null && <ProblemNote error={error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Leave it</Button>
        <Button type="submit" tone="primary" busy={busy}>
          {action}
        </Button>
      </div>
    </form>
  )
}

/** What was there and is not any more is taken away, which the API is told by null. */
function readAttributes(text: string, before: Readonly<Record<string, unknown>>): Record<string, unknown> | null {
  try {
    const read: unknown = JSON.parse(text.trim() === '' ? '{}' : text)
    if (read === null || typeof read !== 'object' || Array.isArray(read)) return null
    const gone = Object.keys(before).filter((name) => !(name in read))
    return { ...(read as Record<string, unknown>), ...Object.fromEntries(gone.map((name) => [name, null])) }
  } catch {
    return null
  }
}
