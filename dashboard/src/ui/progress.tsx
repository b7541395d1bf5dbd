import { showNumber } from './number'

export interface Part {
  readonly label: string
  readonly value: number
  readonly className: string
}

/** Parts of a whole as one bar; the numbers are there for those who do not see it. */
export function Progress({
  parts,
  total,
  label,
}: {
  readonly parts: readonly Part[]
  readonly total: number
  readonly label: string
}) {
  const done = parts.reduce((sum, { value }) => sum + value, 0)
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={Math.min(done, total)}
      aria-valuetext={parts.map((part) => `${part.label}: ${part.value}`).join(', ')}
      className="flex h-2.5 w-full overflow-hidden rounded-full bg-sunken"
    >
      {parts.map((part) => (
        <span
          key={part.label}
          title={`${part.label}: ${showNumber(part.value)}`}
          className={part.className}
          style={{ width: `${total === 0 ? 0 : (100 * part.value) / total}%` }}
        />
      ))}
    </div>
  )
}
