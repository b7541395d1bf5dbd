import { DAY_MS, readIsoDate, stretchesAround, toIsoDate, weekdayOf } from './zone-days.js'

/**
 * When and how much a sender sends.
 *
 * The window of a day is open while the clocks there show a time from `startMinute` to before `endMinute`, and closes for
 * that day the first time they show the end or later. So where clocks jump forward over the start, it opens right after
 * the jump; where they jump back, it opens the first time they show the start, is shut while they show what comes before
 * it, and does not open again for an hour that comes a second time after it was closed.
 */
export interface Pace {
  /** A name of the IANA database. */
  readonly timezone: string
  /** 1 Monday … 7 Sunday. */
  readonly sendingDays: readonly number[]
  /** Minutes of the day; the end is not part of the window, and 1440 is midnight. */
  readonly startMinute: number
  readonly endMinute: number
  /** As 2026-12-25. */
  readonly blackoutDates: readonly string[]
  /** Null: as many as there are. */
  readonly dailyQuota: number | null
  readonly rampUpEnabled: boolean
  /** The quota of the first day, and by how much it grows each day until it is `dailyQuota`. */
  readonly rampUpStart: number
  readonly rampUpStep: number
  readonly gapMinSeconds: number
  readonly gapMaxSeconds: number
}

/** Restricts nothing. A pace that says nothing of a part has that part from here. */
export const OPEN_PACE: Pace = {
  timezone: 'UTC',
  sendingDays: [1, 2, 3, 4, 5, 6, 7],
  startMinute: 0,
  endMinute: 1_440,
  blackoutDates: [],
  dailyQuota: null,
  rampUpEnabled: false,
  rampUpStart: 10,
  rampUpStep: 10,
  gapMinSeconds: 30,
  gapMaxSeconds: 90,
}

const MINUTE_MS = 60_000
/** Two years: whoever has blacked out all of them does not mean to send. */
export const FURTHEST_DAYS = 732

type Window = Pick<Pace, 'timezone' | 'sendingDays' | 'startMinute' | 'endMinute' | 'blackoutDates'>

export function isWithinSendingWindow(pace: Window, at: Date): boolean {
  const ms = at.getTime()
  const day = dayAt(pace.timezone, ms)
  return isSendingDay(pace, day) && openings(pace, day).some(({ from, to }) => from <= ms && ms < to)
}

/** `from` itself when the window is open then; null when it does not open within two years. */
export const getNextSendingSlot = (pace: Window, from: Date): Date | null =>
  findSlot(pace, from.getTime(), dayAt(pace.timezone, from.getTime()))

/** The first slot that is on a later day than this one, by the clocks there. */
export const getFirstSlotAfterDay = (pace: Window, day: string): Date | null =>
  findSlot(pace, Number.NEGATIVE_INFINITY, numberOf(day) + 1)

/** The date the calendars there show, as 2026-12-25. */
export const localDayOf = ({ timezone }: Pick<Pace, 'timezone'>, at: Date): string =>
  toIsoDate(dayAt(timezone, at.getTime()))

/** The quota of the first, second, … day of the ramp-up; null: as many as there are. */
export function calculateRampUpQuota(
  pace: Pick<Pace, 'dailyQuota' | 'rampUpEnabled' | 'rampUpStart' | 'rampUpStep'>,
  dayNumber: number,
): number | null {
  if (!pace.rampUpEnabled) return pace.dailyQuota
  const grown = pace.rampUpStart + pace.rampUpStep * Math.max(dayNumber - 1, 0)
  return pace.dailyQuota === null ? grown : Math.min(grown, pace.dailyQuota)
}

/** Every day of the calendar is a step, also those on which nothing is sent. Before the first day, its quota applies. */
export const quotaOn = (pace: Pace, rampUpFrom: string | null, day: string): number | null =>
  calculateRampUpQuota(pace, rampUpFrom === null ? 1 : numberOf(day) - numberOf(rampUpFrom) + 1)

function findSlot(pace: Window, from: number, firstDay: number): Date | null {
  for (let day = firstDay; day < firstDay + FURTHEST_DAYS; day++) {
    if (!isSendingDay(pace, day)) continue
    for (const opening of openings(pace, day)) if (opening.to > from) return new Date(Math.max(opening.from, from))
  }
  return null
}

export interface Opening {
  readonly from: number
  readonly to: number
}

/** When the window of a day is open: usually once; never on a day that a timezone left out. */
export function openings(
  { timezone, startMinute, endMinute }: Pick<Pace, 'timezone' | 'startMinute' | 'endMinute'>,
  day: number,
): Opening[] {
  const [start, end] = [day * DAY_MS + startMinute * MINUTE_MS, day * DAY_MS + endMinute * MINUTE_MS]
  const found: Opening[] = []
  for (const { from, to, offset } of stretchesAround(timezone, day)) {
    const opening = { from: Math.max(from, start - offset), to: Math.min(to, end - offset) }
    if (opening.from < opening.to) found.push(opening)
    // The clocks show the end within this stretch, or have jumped over it: closed for the day.
    if (end - offset < to) break
  }
  return found
}

export const isSendingDay = ({ sendingDays, blackoutDates }: Window, day: number) =>
  sendingDays.includes(weekdayOf(day)) && (blackoutDates.length === 0 || !blackoutDates.includes(toIsoDate(day)))

/** The number of the day the clocks there show. */
export function dayAt(timezone: string, at: number): number {
  const stretch = stretchesAround(timezone, Math.floor(at / DAY_MS)).find(({ to }) => at < to)!
  return Math.floor((at + stretch.offset) / DAY_MS)
}

function numberOf(day: string): number {
  const number = readIsoDate(day)
  if (number === null) throw new RangeError(`${JSON.stringify(day)} is not a date such as 2026-12-25.`)
  return number
}
