import type { Pace } from '../../src/domain/pace.js'
import { type Wall, wallAt } from '../domain/wall-clock.js'

/**
 * The rules of slots, second by second and with all slots looked at for each: slow and plain on purpose, asked of Intl,
 * and with nothing of the code under test in it.
 */
export interface PlainSlot {
  readonly day: string
  /** Seconds since 1970. */
  readonly at: number
}

export interface PlainBook {
  readonly pace: Pace
  readonly rampUpFrom: string | null
  readonly slots: readonly PlainSlot[]
  /** How many are booked on a date without a slot. */
  readonly bulk: ReadonlyMap<string, number>
}

interface OpenMinute {
  readonly minute: number
  readonly date: string
}

/** Hours from UTC, where clocks have never jumped in the years of the tests: nobody needs to be asked. */
const STEADY: Readonly<Record<string, number>> = { UTC: 0, 'Pacific/Kiritimati': 14, 'Pacific/Honolulu': -10 }

function wallOf(timezone: string, minute: number): Wall {
  const hours = STEADY[timezone]
  if (hours === undefined) return remembered(timezone, minute)
  const shown = new Date((minute + hours * 60) * 60_000)
  return { date: shown.toISOString().slice(0, 10), minute: shown.getUTCHours() * 60 + shown.getUTCMinutes() }
}

const walls = new Map<string, Map<number, Wall>>()

function remembered(timezone: string, minute: number): Wall {
  const known = walls.get(timezone) ?? new Map<number, Wall>()
  walls.set(timezone, known)
  const wall = known.get(minute) ?? wallAt(timezone, minute * 60_000)
  known.set(minute, wall)
  return wall
}

/** The minutes of a time during which the window is open, with the date the clocks show. */
export function openMinutes(pace: Pace, from: number, to: number): OpenMinute[] {
  const found: OpenMinute[] = []
  // The latest that clocks have ever shown: a window whose end they have shown is over, also if they go back.
  let [latestDate, latestMinute] = ['', 0]
  let [weekdayOf, weekday] = ['', 0]
  for (let minute = from - 180; minute < to; minute++) {
    const { date, minute: shown } = wallOf(pace.timezone, minute)
    if (weekdayOf !== date) [weekdayOf, weekday] = [date, new Date(`${date}T12:00:00Z`).getUTCDay() || 7]
    const over = latestDate > date || (latestDate === date && latestMinute >= pace.endMinute)
    const open = pace.startMinute <= shown && shown < pace.endMinute && !over
    if (open && minute >= from && pace.sendingDays.includes(weekday) && !pace.blackoutDates.includes(date))
      found.push({ minute, date })
    if (date > latestDate || (date === latestDate && shown > latestMinute)) [latestDate, latestMinute] = [date, shown]
  }
  return found
}

/** So much on the first day, so much more each day, never more than the daily quota. */
export function plainQuota({ pace, rampUpFrom }: PlainBook, date: string): number {
  const full = pace.dailyQuota ?? Infinity
  if (!pace.rampUpEnabled) return full
  const days = rampUpFrom === null ? 0 : Math.max((Date.parse(date) - Date.parse(rampUpFrom)) / 86_400_000, 0)
  return Math.min(full, pace.rampUpStart + days * pace.rampUpStep)
}

/**
 * The first second that fits, from `from` on and before `until`, with this gap after the slot before it; `open` are the
 * minutes of the window.
 */
export function firstFit(
  book: PlainBook,
  open: readonly OpenMinute[],
  { from, until, gap }: { readonly from: number; readonly until: number; readonly gap: number },
): PlainSlot | null {
  const { pace, slots, bulk } = book
  for (const { minute, date } of open) {
    if ((minute + 1) * 60 <= from || minute * 60 >= until) continue
    const booked = (bulk.get(date) ?? 0) + slots.filter(({ day }) => day === date).length
    if (booked >= plainQuota(book, date)) continue
    for (let second = Math.max(minute * 60, from); second < (minute + 1) * 60 && second < until; second++) {
      const apart = ({ at }: PlainSlot) => (at <= second ? second - at >= gap : at - second >= pace.gapMinSeconds)
      if (pace.gapMaxSeconds === 0 || slots.every(apart)) return { day: date, at: second }
    }
  }
  return null
}
