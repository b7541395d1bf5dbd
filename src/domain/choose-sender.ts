import { getFirstSlotAfterDay, getNextSendingSlot, localDayOf, quotaOn } from './pace.js'
import type { SlotBook } from './slots.js'

/**
 * Which of several senders a contact gets: the one that can begin on the earliest day, and of those that can begin on the
 * same, the one that has the most of that day's quota left. Null when no sender has a day in sight.
 */
export function chooseSender<Candidate extends { readonly book: SlotBook }>(
  candidates: readonly Candidate[],
  now: Date,
): Candidate | null {
  let chosen: { readonly candidate: Candidate; readonly free: FreeDay } | null = null
  for (const candidate of candidates) {
    const free = findFreeDay(candidate.book, now)
    if (free && (!chosen || isBetter(free, chosen.free))) chosen = { candidate, free }
  }
  return chosen?.candidate ?? null
}

interface FreeDay {
  readonly at: number
  readonly remaining: number
  readonly booked: number
}

const isBetter = (one: FreeDay, other: FreeDay): boolean =>
  one.at !== other.at
    ? one.at < other.at
    : one.remaining !== other.remaining
      ? one.remaining > other.remaining
      : one.booked < other.booked

/** As far as two years, which is as far as slots are looked for. */
const FURTHEST_DAYS = 732

function findFreeDay({ pace, rampUpFrom, days }: SlotBook, now: Date): FreeDay | null {
  let slot = getNextSendingSlot(pace, now)
  for (let tried = 0; slot && tried < FURTHEST_DAYS; tried++) {
    const day = localDayOf(pace, slot)
    const booked = days.get(day)?.booked ?? 0
    const quota = quotaOn(pace, rampUpFrom, day)
    if (quota === null) return { at: slot.getTime(), remaining: Number.POSITIVE_INFINITY, booked }
    if (booked < quota) return { at: slot.getTime(), remaining: quota - booked, booked }
    slot = getFirstSlotAfterDay(pace, day)
  }
  return null
}
