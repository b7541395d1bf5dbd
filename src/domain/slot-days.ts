import { dayAt, FURTHEST_DAYS, isSendingDay, type Opening, openings, type Pace, quotaOn } from './pace.js'
import { covers, plantRoomTree, type RoomTree, setRoom } from './room-tree.js'
import { toIsoDate } from './zone-days.js'

/** What is given away of a sender's days. Only the functions of slots.ts change it once one of them was used. */
export interface SlotBook {
  readonly pace: Pace
  readonly rampUpFrom: string | null
  /** By date, as 2026-12-25. A day that is not in it is empty. */
  readonly days: Map<string, BookedDay>
  /** The days that are to be saved. */
  readonly changed: Set<string>
}

export interface BookedDay {
  booked: number
  /** Seconds since 1970, in order. */
  slots: number[]
}

/**
 * One day of the sender's calendar, as the search wants it: in seconds, with everything that costs to find out kept.
 *
 * A day holds the slots that lie between its beginning and the next day's, whichever date they are booked on: when a
 * timezone is changed, what was booked on one date may lie among the hours of another, and still wants its gap.
 */
export interface SlotDay {
  readonly number: number
  readonly date: string
  readonly start: number
  readonly end: number
  /** When its window is open: usually one piece, more where clocks jump back. */
  readonly pieces: readonly Piece[]
  readonly quota: number
  /** Seconds since 1970, in order. Only slot-holes.ts changes it. */
  readonly taken: number[]
  /** Absent until a hole between them is looked for. */
  holes: RoomTree | undefined
  /** What is booked on this date; absent while nothing is. */
  booked: BookedDay | undefined
}

/** The seconds from `from` to `last` are open, `last` among them. */
export interface Piece {
  readonly from: number
  readonly last: number
}

/** A book as it is searched. */
export interface SlotDays {
  readonly book: SlotBook
  readonly byNumber: Map<number, SlotDay>
  /** All slots of the book when it was first looked at, in order; each day takes its part when it is first needed. */
  readonly given: readonly number[]
  /** The largest gap that may still find a place on each day; -1: none. */
  room: RoomTree | undefined
  latest: SlotDay | undefined
}

const known = new WeakMap<SlotBook, SlotDays>()

export const findDays = (book: SlotBook): SlotDays | undefined => known.get(book)

export function daysOf(book: SlotBook): SlotDays {
  const found = known.get(book)
  if (found) return found
  const given = [...book.days.values()].flatMap(({ slots }) => slots)
  const days: SlotDays = {
    book,
    byNumber: new Map(),
    given: inOrder(given) ? given : given.toSorted((a, b) => a - b),
    room: undefined,
    latest: undefined,
  }
  known.set(book, days)
  return days
}

export function dayOf(days: SlotDays, number: number): SlotDay {
  const found = days.byNumber.get(number)
  if (found) return found
  const { pace, rampUpFrom, days: booked } = days.book
  const date = toIsoDate(number)
  const [start, end] = [startOf(pace, number), startOf(pace, number + 1)]
  const day: SlotDay = {
    number,
    date,
    start,
    end,
    pieces: isSendingDay(pace, number) ? openings(pace, number).map(inSeconds) : [],
    quota: quotaOn(pace, rampUpFrom, date) ?? Infinity,
    taken: days.given.slice(countUpTo(days.given, start - 1), countUpTo(days.given, end - 1)),
    holes: undefined,
    booked: booked.get(date),
  }
  days.byNumber.set(number, day)
  return day
}

/** The day among whose slots this instant is: not always the date the clocks show, where they go back over midnight. */
export function ownerOf(days: SlotDays, second: number): SlotDay {
  const { latest } = days
  if (latest && latest.start <= second && second < latest.end) return latest
  let day = dayOf(days, dayAt(days.book.pace.timezone, second * 1_000))
  while (second >= day.end) day = dayOf(days, day.number + 1)
  return (days.latest = day)
}

/** What is known of the room from this day on, as far as anybody looks. */
export function roomFrom(days: SlotDays, number: number): RoomTree {
  const { room } = days
  const to = number + FURTHEST_DAYS
  if (room && covers(room, number, to)) return room
  // Whoever looks further back or ahead than anybody before finds out again what was known.
  const first = room ? Math.min(room.first, number) : number
  return (days.room = plantRoomTree(first, (room ? Math.max(room.first + room.size, to) : to) - first, Infinity))
}

/** Something was given back on this day: it and those close to it may have room again. */
export function forgetAround(days: SlotDays, { number }: SlotDay): void {
  if (!days.room) return
  for (let near = number - REACH_DAYS; near <= number + REACH_DAYS; near++) setRoom(days.room, near, Infinity)
}

/** A gap is a day at most, and a day is at times an hour shorter, or left out. */
const REACH_DAYS = 3

/** The last slot before the day. Further away than `reach` it does not matter, and may be left out. */
export function slotBefore(days: SlotDays, { number, start }: SlotDay, reach: number): number {
  for (let day = dayOf(days, number - 1); ; day = dayOf(days, day.number - 1)) {
    if (day.taken.length > 0) return day.taken.at(-1)!
    if (start - day.start >= reach) return -Infinity
  }
}

/** The first slot after the day. Further away than `reach` it does not matter, and may be left out. */
export function slotAfter(days: SlotDays, { number, end }: SlotDay, reach: number): number {
  for (let day = dayOf(days, number + 1); ; day = dayOf(days, day.number + 1)) {
    if (day.taken.length > 0) return day.taken[0]!
    if (day.end - end >= reach) return Infinity
  }
}

/** How many of them are not after the instant. */
export function countUpTo(slots: readonly number[], second: number): number {
  let [low, high] = [0, slots.length]
  // Most of what is asked for comes after everything there is.
  if (high === 0 || slots[high - 1]! <= second) return high
  while (low < high) {
    const middle = (low + high) >>> 1
    if (slots[middle]! <= second) low = middle + 1
    else high = middle
  }
  return low
}

/** Returns its place. */
export function insertSlot(slots: number[], second: number): number {
  const place = countUpTo(slots, second)
  if (place === slots.length) slots.push(second)
  else slots.splice(place, 0, second)
  return place
}

/** Returns the place it had; -1: it is none of them. */
export function removeSlot(slots: number[], second: number): number {
  const place = countUpTo(slots, second) - 1
  if (slots[place] !== second) return -1
  slots.splice(place, 1)
  return place
}

const inOrder = (slots: readonly number[]) => slots.every((slot, i) => i === 0 || slots[i - 1]! <= slot)

/** When the clocks there first show the day; a day that a timezone left out begins where the next one does. */
function startOf({ timezone }: Pace, number: number): number {
  for (let day = number; ; day++) {
    const [first] = openings({ timezone, startMinute: 0, endMinute: 1_440 }, day)
    if (first) return Math.ceil(first.from / 1_000)
  }
}

const inSeconds = ({ from, to }: Opening): Piece => ({ from: Math.ceil(from / 1_000), last: Math.ceil(to / 1_000) - 1 })
