import { Temporal } from 'temporal-polyfill'

/**
 * What the clocks of a timezone show around a day. A stretch is a time during which they are a fixed offset away from
 * UTC; where one ends and the next begins they jump. Days are numbered from 1 January 1970, and so is everything the
 * rest of pace calculates with: once the stretches are known, no calendar is needed any more, only sums.
 */
export interface Stretch {
  readonly from: number
  readonly to: number
  readonly offset: number
}

export const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** No clock was ever further than 16 hours from UTC. */
const FURTHEST_MS = 16 * HOUR_MS
/** Clocks have never jumped there and back within so little. */
const LOOK_EVERY_MS = 4 * HOUR_MS
/** Some sixty years of days; a simulation of many senders needs a few thousand. */
const REMEMBERED = 20_000

const remembered = new Map<string, Map<number, readonly Stretch[]>>()
let count = 0

/** The stretches that hold every instant of the day, whether it is meant by UTC or by the clocks there; in order. */
export function stretchesAround(timezone: string, day: number): readonly Stretch[] {
  let days = remembered.get(timezone)
  const known = days?.get(day)
  if (known) return known
  // Facts about calendars are cheap to find again: forgetting all of them is simpler than choosing.
  if (count >= REMEMBERED) {
    remembered.clear()
    count = 0
    days = undefined
  }
  if (!days) remembered.set(timezone, (days = new Map()))
  const found = findStretches(timezone, day * DAY_MS - FURTHEST_MS, (day + 1) * DAY_MS + FURTHEST_MS)
  days.set(day, found)
  count++
  return found
}

function findStretches(timezone: string, from: number, to: number): Stretch[] {
  const found: Stretch[] = []
  let start = from
  let offset = offsetAt(timezone, from)
  for (let at = from; at < to;) {
    const next = Math.min(at + LOOK_EVERY_MS, to)
    const other = offsetAt(timezone, next)
    if (other !== offset) {
      const jump = findJump(timezone, at, next, offset)
      found.push({ from: start, to: jump, offset })
      start = jump
      offset = other
    }
    at = next
  }
  found.push({ from: start, to, offset })
  return found
}

/** The first instant after `before` that no longer has the offset; `after` has not. */
function findJump(timezone: string, before: number, after: number, offset: number): number {
  let [low, high] = [before, after]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(timezone, middle) === offset) low = middle
    else high = middle
  }
  return high
}

const offsetAt = (timezone: string, at: number) =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone).offsetNanoseconds / 1_000_000

/** Names only: an offset such as +02:00 knows no summer time, and would be wrong for half of the year. */
export function isTimezone(name: string): boolean {
  if (!/^[a-z][a-z0-9_+-]*(?:\/[a-z0-9_+-]+)*$/i.test(name)) return false
  try {
    offsetAt(name, 0)
    return true
  } catch {
    return false
  }
}

export const toIsoDate = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** Null for what is no date of the calendar, such as 2026-02-29. */
export function readIsoDate(text: string): number | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return null
  const ms = Date.parse(`${text}T00:00:00Z`)
  return Number.isNaN(ms) || toIsoDate(ms / DAY_MS) !== text ? null : ms / DAY_MS
}

/** 1 Monday … 7 Sunday. */
export const weekdayOf = (day: number): number => ((((day + 3) % 7) + 7) % 7) + 1
