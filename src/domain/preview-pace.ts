import { dayAt, FURTHEST_DAYS, isSendingDay, isWithinSendingWindow, openings, type Pace, quotaOn } from './pace.js'
import { type SlotBook, takeSlot } from './slots.js'
import { toIsoDate } from './zone-days.js'

/** What a pace would mean, before anybody is bound by it. */
export interface PacePreview {
  readonly openNow: boolean
  /** The next days on which it sends. */
  readonly days: readonly PreviewedDay[]
  /** When the next emails would go out if nothing else were booked. */
  readonly slots: readonly Date[]
}

export interface PreviewedDay {
  readonly date: string
  readonly opensAt: Date
  readonly closesAt: Date
  /** Null: as many as there are. */
  readonly quota: number | null
  /** As many as find a place in what is left of the window, with gaps of the middle size. */
  readonly fits: number | null
}

const DAYS = 7
const SLOTS = 10

export function previewPace(pace: Pace, rampUpFrom: string | null, now: Date, random: () => number): PacePreview {
  const days: PreviewedDay[] = []
  const today = dayAt(pace.timezone, now.getTime())
  for (let day = today; day < today + FURTHEST_DAYS && days.length < DAYS; day++) {
    const open = isSendingDay(pace, day) ? openings(pace, day).filter(({ to }) => to > now.getTime()) : []
    if (open.length > 0) days.push(describeDay(pace, rampUpFrom, toIsoDate(day), open, now))
  }
  const book: SlotBook = { pace, rampUpFrom, days: new Map(), changed: new Set() }
  const slots: Date[] = []
  for (let from: Date | undefined = now; from && slots.length < SLOTS;) {
    from = takeSlot(book, from, random)?.at
    if (from) slots.push(from)
  }
  return { openNow: isWithinSendingWindow(pace, now), days, slots }
}

function describeDay(
  pace: Pace,
  rampUpFrom: string | null,
  date: string,
  open: readonly { readonly from: number; readonly to: number }[],
  now: Date,
): PreviewedDay {
  const quota = quotaOn(pace, rampUpFrom, date)
  const seconds = open.reduce((sum, { from, to }) => sum + (to - Math.max(from, now.getTime())) / 1_000, 0)
  const gap = (pace.gapMinSeconds + pace.gapMaxSeconds) / 2
  const room = gap === 0 ? null : Math.floor(seconds / gap) + 1
  const fits = room === null ? quota : quota === null ? room : Math.min(room, quota)
  return { date, opensAt: new Date(open[0]!.from), closesAt: new Date(open.at(-1)!.to), quota, fits }
}
