import { useCallback } from 'react'
import { TextArea } from '../../ui/field'
import { ContactChoice, type Person } from './contact-choice'
import { type Filling, readSample } from './filling'

/** With what a template is shown: made-up data that can be changed, or somebody who exists. */
export function FillingChoice({
  filling,
  onChange,
}: {
  readonly filling: Filling
  readonly onChange: (filling: Filling) => void
}) {
  const choose = useCallback((person: Person | null) => onChange({ ...filling, person }), [filling, onChange])
  const read = filling.kind === 'sample' ? readSample(filling.json) : null
  return (
    <div className="flex flex-col gap-3">
      <div role="radiogroup" aria-label="Shown with" className="flex flex-wrap gap-4 text-sm">
        {(['sample', 'contact'] as const).map((kind) => (
          <label key={kind} className="inline-flex items-center gap-2">
            <input
              type="radio"
              name="filling"
              checked={filling.kind === kind}
              onChange={() => onChange({ ...filling, kind })}
              className="size-4 accent-(--accent)"
            />
            {kind === 'sample' ? 'Sample data' : 'A contact'}
          </label>
        ))}
      </div>
      {filling.kind === 'contact' ? (
        <ContactChoice value={filling.person} onChange={choose} />
      ) : (
        <details>
          <summary className="text-sm text-soft">The sample data</summary>
          <div className="mt-2">
            <TextArea
              label="Sample data, as JSON"
              hideLabel
              rows={10}
              spellCheck={false}
              className="font-mono text-xs"
              value={filling.json}
              error={read && 'problem' in read ? read.problem : undefined}
              onChange={(event) => onChange({ ...filling, json: event.target.value })}
            />
          </div>
        </details>
      )}
    </div>
  )
}
