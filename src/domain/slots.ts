import { FURTHEST_DAYS, type Pace } from './pace.js'
import { firstWithRoom, setRoom } from './room-tree.js'
import {
  type BookedDay,
  countUpTo,
  dayOf,
  daysOf,
  findDays,
  forgetAround,
  insertSlot,
  ownerOf,
  type Piece,
  removeSlot,
  roomFrom,
  slotAfter,
  slotBefore,
  type SlotBook,
  type SlotDay,
  type SlotDays,
} from './slot-days.js'
import { findHoleAfter, insertTaken, removeTaken } from './slot-holes.js'
import { readIsoDate } from './zone-days.js'

export type { BookedDay, SlotBook }

/**
 * The exact instants at which a sender's emails go out: within its window, under the quota of the day, and some way
 * apart from each other. What is kept of them is a book; who holds the book, and how it is saved, is not decided here.
 */
export interface Slot {
  readonly at: Date
  /** The date it is booked on, by the sender's calendar. */
  readonly day: string
}

/**
 * Finds and books the first whole second from `notBefore` on at which the window is open, on a day that has quota left, a
 * random gap after the slot before it and at least the smallest gap before the slot after it. Null: none within two
 * years. A pace without a gap keeps no slots, only counts.
 */
export function takeSlot(book: SlotBook, notBefore: Date, random: () => number): Slot | null {
  const from = Math.ceil(notBefore.getTime() / 1_000)
  const gap = drawGap(book.pace, random)
  const days = daysOf(book)
  const first = ownerOf(days, from).number
  const room = roomFrom(days, first)
  for (let number = first; (number = firstWithRoom(room, number, gap)) < first + FURTHEST_DAYS; number++) {
    const day = dayOf(days, number)
    if (isFull(day)) {
      setRoom(room, number, -1)
      continue
    }
    const second = keepsGap(book.pace) ? findHole(days, day, from, gap) : findOpen(day, from)
    if (second === null) continue
    add(days, day, second)
    return { at: new Date(second * 1_000), day: day.date }
  }
  return null
}

/** Books this instant, whatever is beside it: for what goes out now, on a day on which it was not expected. */
export function bookSlot(book: SlotBook, { day, at }: Slot): void {
  const days = daysOf(book)
  add(days, dayOf(days, readIsoDate(day)!), Math.floor(at.getTime() / 1_000))
}

export function hasRoom(book: SlotBook, day: string): boolean {
  const { booked, quota } = dayOf(daysOf(book), readIsoDate(day)!)
  return (booked?.booked ?? 0) < quota
}

/** Frees what was booked and will not be used. What the book does not know is nobody's to give back. */
export function giveBackSlot(book: SlotBook, { day, at }: { readonly day: string; readonly at: Date | null }): void {
  const booked = book.days.get(day)
  if (!booked) return
  booked.booked = Math.max(booked.booked - 1, 0)
  book.changed.add(day)
  const second = at && Math.floor(at.getTime() / 1_000)
  const freed = second !== null && removeSlot(booked.slots, second) >= 0
  const days = findDays(book)
  if (!days) return
  forgetAround(days, dayOf(days, readIsoDate(day)!))
  if (!freed) return
  const owner = ownerOf(days, second)
  removeTaken(owner, second)
  forgetAround(days, owner)
}

/** Whole seconds, each as likely as the other. */
export const drawGap = ({ gapMinSeconds, gapMaxSeconds }: Pace, random: () => number): number =>
  Math.min(gapMinSeconds + Math.floor(random() * (gapMaxSeconds - gapMinSeconds + 1)), gapMaxSeconds)

const keepsGap = ({ gapMaxSeconds }: Pace) => gapMaxSeconds > 0

const isFull = ({ pieces, booked, quota }: SlotDay) =>
  pieces.length === 0 || (booked !== undefined && booked.booked >= quota)

function add(days: SlotDays, day: SlotDay, second: number): void {
  const { book } = days
  if (!day.booked) book.days.set(day.date, (day.booked = { booked: 0, slots: [] }))
  day.booked.booked++
  book.changed.add(day.date)
  if (!keepsGap(book.pace)) return
  insertSlot(day.booked.slots, second)
  insertTaken(day.start <= second && second < day.end ? day : ownerOf(days, second), second)
}

function findOpen({ pieces }: SlotDay, from: number): number | null {
  for (const piece of pieces) if (piece.last >= from) return Math.max(piece.from, from)
  return null
}

function findHole(days: SlotDays, day: SlotDay, from: number, gap: number): number | null {
  for (const piece of day.pieces) {
    const at = from <= piece.last ? findHoleIn(days, day, piece, Math.max(from, piece.from), gap) : null
    if (at !== null) return at
  }
  // Nor does a larger gap find a place, or whoever starts later: until a slot is given back.
  if (from <= day.pieces[0]!.from) setRoom(days.room!, day.number, gap - 1)
  return null
}

/** Beside the slot before `start`, or behind the first one after it that has room: any other hole is further away. */
function findHoleIn(days: SlotDays, day: SlotDay, { last }: Piece, start: number, gap: number): number | null {
  const { taken } = day
  // A slot of the same second counts as the one before.
  const after = Math.max(days.book.pace.gapMinSeconds, 1)
  const place = countUpTo(taken, start)
  const before = place > 0 ? taken[place - 1]! : slotBefore(days, day, gap)
  const next = place < taken.length ? taken[place]! : slotAfter(days, day, after)
  const at = Math.max(start, before + gap)
  if (at <= Math.min(next - after, last)) return at
  if (next > last) return null
  const slot = findHoleAfter(day, start, gap + after)
  if (slot === null || slot + gap > last) return null
  const isLast = slot === taken.at(-1)
  return isLast && slot + gap > slotAfter(days, day, after) - after ? null : slot + gap
}
