import { FURTHEST_DAYS } from '../../src/domain/pace.js'
import {
  countUpTo,
  dayOf,
  daysOf,
  ownerOf,
  type Piece,
  slotAfter,
  slotBefore,
  type SlotDay,
  type SlotDays,
} from '../../src/domain/slot-days.js'
import { drawGap, type Slot, type SlotBook } from '../../src/domain/slots.js'
import { readAgain } from './drawn-paces.js'

/** The slot that is to be found, by looking at one hole after the other and remembering nothing. Books nothing. */
export function searchLinearly(book: SlotBook, notBefore: Date, random: () => number): Slot | null {
  const from = Math.ceil(notBefore.getTime() / 1_000)
  const gap = drawGap(book.pace, random)
  const days = daysOf(readAgain(book, book.pace))
  const first = ownerOf(days, from).number
  for (let number = first; number < first + FURTHEST_DAYS; number++) {
    const day = dayOf(days, number)
    if ((day.booked?.booked ?? 0) >= day.quota) continue
    for (const piece of day.pieces) {
      const at = from <= piece.last ? search(days, day, piece, Math.max(from, piece.from), gap) : null
      if (at !== null) return { at: new Date(at * 1_000), day: day.date }
    }
  }
  return null
}

function search(days: SlotDays, day: SlotDay, { last }: Piece, start: number, gap: number): number | null {
  const { taken } = day
  // A slot of the same second counts as the one before.
  const after = Math.max(days.book.pace.gapMinSeconds, 1)
  let place = countUpTo(taken, start)
  let before = place > 0 ? taken[place - 1]! : slotBefore(days, day, gap)
  for (; ; place++) {
    const next = place < taken.length ? taken[place]! : slotAfter(days, day, after)
    const latest = Math.min(next - after, last)
    if (start <= latest && latest - before >= gap) return Math.max(start, before + gap)
    if (next > last) return null
    before = next
  }
}
