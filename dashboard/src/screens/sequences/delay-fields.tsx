import { TextField } from '../../ui/field'
import type { Delay } from './sequence-queries'

const UNITS = ['days', 'hours', 'minutes'] as const

/** A stretch of time as it is written: days, hours and minutes, added up. */
export function DelayFields({
  label,
  value,
  error,
  onChange,
}: {
  readonly label: string
  readonly value: Delay | undefined
  readonly error?: string | undefined
  readonly onChange: (value: Delay) => void
}) {
  return (
    <fieldset>
      <legend className="mb-1 text-sm font-medium">{label}</legend>
      <div className="grid grid-cols-3 gap-2">
        {UNITS.map((unit) => (
          <TextField
            key={unit}
            label={unit}
            type="number"
            min={0}
            value={value?.[unit] ?? ''}
            onChange={(event) => {
              const { [unit]: _, ...rest } = value ?? {}
              onChange(event.target.value === '' ? rest : { ...rest, [unit]: Number(event.target.value) })
            }}
          />
        ))}
      </div>
      {error !== undefined && (
        <p role="alert" className="mt-1 text-xs text-bad">
          {error}
        </p>
      )}
    </fieldset>
  )
}
