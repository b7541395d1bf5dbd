import type { Pace } from './sender-queries'
import { showNumber } from '../../ui/number'

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

/** A pace in one line, as somebody would say it. */
export function describePace(pace: Pace | null): string {
  if (!pace) return 'At any time, as much as there is.'
  const { sending_days: days, daily_quota: quota } = pace
  const when = days.length === 7 ? 'Every day' : describeDays(days)
  const hours = `${showHour(pace.start_hour)}–${showHour(pace.end_hour)} ${pace.timezone}`
  const gap = `${pace.gap_min_seconds}–${pace.gap_max_seconds} s apart`
  const most = quota === null ? '' : `, at most ${showNumber(quota)} a day`
  const ramp = pace.ramp_up_enabled ? `, from ${pace.ramp_up_start} growing by ${pace.ramp_up_step} a day` : ''
  return `${when}, ${hours}, ${gap}${most}${ramp}.`
}

function describeDays(days: readonly number[]): string {
  const sorted = days.toSorted((a, b) => a - b)
  const isRun = sorted.every((day, i) => i === 0 || day === sorted[i - 1]! + 1)
  const name = (day: number) => DAYS[day - 1] ?? String(day)
  return isRun && sorted.length > 2 ? `${name(sorted[0]!)}–${name(sorted.at(-1)!)}` : sorted.map(name).join(', ')
}

export const showHour = (hour: number | string): string =>
  typeof hour === 'string' ? hour : `${String(hour).padStart(2, '0')}:00`
