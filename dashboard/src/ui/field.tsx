import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from 'react'

const BOX =
  'w-full rounded-md border bg-panel px-3 text-sm text-ink placeholder:text-soft/70 disabled:opacity-60 aria-invalid:border-bad'

interface Labelled {
  readonly label: ReactNode
  readonly hint?: ReactNode
  /** What is wrong with it, in words. */
  readonly error?: string | undefined
  /** The label is read, not seen. */
  readonly hideLabel?: boolean
}

function Field({
  label,
  hint,
  error,
  hideLabel,
  id,
  children,
}: Labelled & { readonly id: string; readonly children: ReactNode }) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className={hideLabel ? 'sr-only' : 'text-sm font-medium'}>
        {label}
      </label>
      {children}
      {hint !== undefined && error === undefined && (
        <p id={`${id}-hint`} className="text-xs text-soft">
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} role="alert" className="text-xs text-bad">
          {error}
        </p>
      )}
    </div>
  )
}

const described = (id: string, { hint, error }: Labelled) => ({
  id,
  'aria-invalid': error !== undefined || undefined,
  'aria-describedby': error !== undefined ? `${id}-error` : hint !== undefined ? `${id}-hint` : undefined,
})

export function TextField({
  label,
  hint,
  error,
  hideLabel,
  className = '',
  ...rest
}: Labelled & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId()
  const labelled = { label, hint, ...(error !== undefined && { error }), ...(hideLabel !== undefined && { hideLabel }) }
  return (
    <Field {...labelled} id={id}>
      <input {...rest} {...described(id, labelled)} className={`${BOX} h-9 ${className}`} />
    </Field>
  )
}

export function TextArea({
  label,
  hint,
  error,
  hideLabel,
  className = '',
  ...rest
}: Labelled & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId()
  const labelled = { label, hint, ...(error !== undefined && { error }), ...(hideLabel !== undefined && { hideLabel }) }
  return (
    <Field {...labelled} id={id}>
      <textarea {...rest} {...described(id, labelled)} className={`${BOX} min-h-24 py-2 ${className}`} />
    </Field>
  )
}

export function Choice({
  label,
  hint,
  error,
  hideLabel,
  className = '',
  children,
  ...rest
}: Labelled & SelectHTMLAttributes<HTMLSelectElement>) {
  const id = useId()
  const labelled = { label, hint, ...(error !== undefined && { error }), ...(hideLabel !== undefined && { hideLabel }) }
  return (
    <Field {...labelled} id={id}>
      <select {...rest} {...described(id, labelled)} className={`${BOX} h-9 pr-8 ${className}`}>
        {children}
      </select>
    </Field>
  )
}

export function CheckBox({ label, ...rest }: { readonly label: ReactNode } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <label className="inline-flex items-center gap-2 text-sm">
      <input type="checkbox" {...rest} className="size-4 accent-(--accent)" />
      {label}
    </label>
  )
}

/** What was typed into a field of a form; none of ours takes files. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value : ''
}
