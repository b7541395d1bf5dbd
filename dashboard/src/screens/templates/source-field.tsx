import { Braces } from 'lucide-react'
import { useId, useRef } from 'react'
import { Button } from '../../ui/button'
import { Menu } from '../../ui/menu'
import type { Mark } from './filling'

const LINE_PX = 20

/** Something to be written in many lines, each with its number, and what is wrong with them beside and below. */
export function SourceField({
  label,
  hint,
  value,
  onChange,
  marks,
  variables,
  lines,
  readOnly = false,
}: {
  readonly label: string
  readonly hint?: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly marks: readonly Mark[]
  /** What can be put in by name. */
  readonly variables: readonly string[]
  readonly lines: number
  readonly readOnly?: boolean
}) {
  const id = useId()
  const area = useRef<HTMLTextAreaElement>(null)
  const gutter = useRef<HTMLDivElement>(null)
  const count = value.split('\n').length
  const moods = new Map(marks.toReversed().map(({ line, mood }) => [line, mood]))
  const goTo = ({ line, column }: Mark) => {
    const start =
      value
        .split('\n')
        .slice(0, line - 1)
        .join('\n').length +
      (line > 1 ? 1 : 0) +
      column -
      1
    area.current?.focus()
    area.current?.setSelectionRange(start, start + 1)
    if (area.current) area.current.scrollTop = Math.max(0, (line - 3) * LINE_PX)
  }
  const insert = (name: string) => {
    const { selectionStart, selectionEnd } = area.current ?? {
      selectionStart: value.length,
      selectionEnd: value.length,
    }
    onChange(`${value.slice(0, selectionStart)}{{ ${name} }}${value.slice(selectionEnd)}`)
  }
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <div className="flex items-end justify-between gap-2">
        <label htmlFor={id} className="text-sm font-medium">
          {label}
        </label>
        {!readOnly && <InsertMenu label={label} variables={variables} onInsert={insert} />}
      </div>
      <div
        className={`flex overflow-hidden rounded-md border bg-panel font-mono text-xs leading-5 focus-within:outline-2 focus-within:outline-accent ${marks.some(({ mood }) => mood === 'bad') ? 'border-bad' : ''}`}
      >
        <div aria-hidden className="shrink-0 overflow-hidden border-r bg-sunken py-2 text-right text-soft select-none">
          <div ref={gutter}>
            {Array.from({ length: count }, (_, index) => {
              const mood = moods.get(index + 1)
              return (
                <div
                  key={index}
                  className={`min-w-9 px-2 ${mood === 'bad' ? 'bg-bad-soft font-bold text-bad' : mood === 'warn' ? 'bg-warn-soft font-bold text-warn' : ''}`}
                >
                  {index + 1}
                </div>
              )
            })}
          </div>
        </div>
        <textarea
          ref={area}
          id={id}
          value={value}
          readOnly={readOnly}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          aria-invalid={marks.some(({ mood }) => mood === 'bad') || undefined}
          aria-describedby={marks.length > 0 ? `${id}-marks` : hint === undefined ? undefined : `${id}-hint`}
          onChange={(event) => onChange(event.target.value)}
          onScroll={({ currentTarget }) =>
            gutter.current?.style.setProperty('transform', `translateY(${-currentTarget.scrollTop}px)`)
          }
          style={{ height: lines * LINE_PX + 18 }}
          className="min-w-0 flex-1 resize-y bg-panel px-2 py-2 whitespace-pre text-ink outline-none"
        />
      </div>
      {marks.length > 0 && (
        <ul id={`${id}-marks`} className="flex flex-col gap-0.5 text-xs" aria-live="polite">
          {marks.map((mark) => (
            <li key={`${mark.line} ${mark.column} ${mark.detail}`}>
              <button
                type="button"
                onClick={() => goTo(mark)}
                className={`text-left underline decoration-dotted underline-offset-2 ${mark.mood === 'bad' ? 'text-bad' : 'text-warn'}`}
              >
                Line {mark.line}: {mark.detail}
              </button>
            </li>
          ))}
        </ul>
      )}
      {hint !== undefined && marks.length === 0 && (
        <p id={`${id}-hint`} className="text-xs text-soft">
          {hint}
        </p>
      )}
    </div>
  )
}

export const InsertMenu = ({
  label,
  variables,
  onInsert,
}: {
  readonly label: string
  readonly variables: readonly string[]
  readonly onInsert: (name: string) => void
}) => (
  <Menu
    trigger={
      <Button small tone="quiet" icon={<Braces />} aria-label={`Put a variable into ${label}`}>
        Variable
      </Button>
    }
    items={variables.map((name) => ({ label: name, onSelect: () => onInsert(name) }))}
  />
)
