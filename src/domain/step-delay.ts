import { type Path, readFields, type Say } from './read-fields.js'

/** How long, as people write it in a sequence: whole days, hours and minutes, added up. */
export interface DelayInput {
  readonly days?: number | undefined
  readonly hours?: number | undefined
  readonly minutes?: number | undefined
}

const UNITS = ['days', 'hours', 'minutes'] as const
type Unit = (typeof UNITS)[number]
const UNIT_MS: Readonly<Record<Unit, number>> = { days: 86_400_000, hours: 3_600_000, minutes: 60_000 }

const LEAST_MS = UNIT_MS.minutes
const MOST_DAYS = 365

/** A duration that has to be there. */
export function readDuration(value: unknown, path: Path, say: Say): number {
  const ms = readDelay(value, path, say)
  if (ms === 0) say(path, 'must be at least a minute: write for example {"days": 2}')
  return Math.max(ms, LEAST_MS)
}

export function readDelay(value: unknown, path: Path, say: Say): number {
  const parts = readFields(value, UNITS, path, say)
  return parts === null ? LEAST_MS : addUp(parts, path, (unit) => [...path, unit], say)
}

/** Milliseconds, 0 for none. What is wrong counts as a minute once it is said, so that it is not said again as too little. */
export function addUp(
  parts: Readonly<Partial<Record<Unit, unknown>>>,
  path: Path,
  pathOf: (unit: Unit) => Path,
  say: Say,
): number {
  let ms = 0
  let wrong = false
  for (const unit of UNITS) {
    const amount = parts[unit] ?? 0
    if (typeof amount === 'number' && Number.isInteger(amount) && amount >= 0) ms += amount * UNIT_MS[unit]
    else {
      say(pathOf(unit), `must be a whole number of ${unit}, 0 or more`)
      wrong = true
    }
  }
  if (ms > MOST_DAYS * UNIT_MS.days) say(path, `must be at most ${MOST_DAYS} days`)
  return wrong ? LEAST_MS : ms
}

export function showDelay(ms: number): DelayInput {
  const days = Math.floor(ms / UNIT_MS.days)
  const hours = Math.floor((ms % UNIT_MS.days) / UNIT_MS.hours)
  const minutes = (ms % UNIT_MS.hours) / UNIT_MS.minutes
  return { ...(days > 0 && { days }), ...(hours > 0 && { hours }), ...(minutes > 0 && { minutes }) }
}
