import { createHeap } from './heap.js'
import { dayAt, openings } from './pace.js'
import { toIsoDate } from './zone-days.js'

/** What goes out on which day: counts for all of it, and the first emails by name. Takes no more room for more emails. */
export interface FutureEmail {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly address: string
  readonly contactId: string
  /** Of a sequence. */
  readonly step: number | null
  readonly senderId: string
}

export interface CalendarDay {
  /** As 2026-12-25, by the clocks of the calendar's timezone. */
  readonly day: string
  readonly emails: number
  readonly bySender: ReadonlyMap<string, number>
  readonly byStep: ReadonlyMap<number, number>
}

export interface SendCalendar {
  readonly from: number
  /** The midnight after the last day; not part of it. */
  readonly until: number
  add(email: FutureEmail): void
  /** Emails that come after the last day, whose times nobody needs to know. */
  addBeyond(emails: number): void
  total(): number
  beyond(): number
  days(): CalendarDay[]
  /** The first so many, in the order they go out. */
  first(): FutureEmail[]
}

interface CalendarOptions {
  readonly from: Date
  /** How many, today among them. */
  readonly days: number
  readonly timezone: string
  /** How many emails are kept by name. */
  readonly limit: number
}

export function openCalendar({ from, days: count, timezone, limit }: CalendarOptions): SendCalendar {
  const today = dayAt(timezone, from.getTime())
  const starts = Array.from({ length: count + 1 }, (_, i) => startOf(timezone, today + i))
  const until = starts[count]!
  const days = starts
    .slice(0, count)
    .map((_, i) => ({ day: toIsoDate(today + i), emails: 0, bySender: new Map(), byStep: new Map() }))
  // The last of the first is in front, to give way to one that comes before it.
  const first = createHeap<FutureEmail>((one, other) => compare(one, other) > 0)
  let [total, beyond] = [0, 0]

  return {
    from: from.getTime(),
    until,
    add(email) {
      if (email.at >= until) return void beyond++
      total++
      const day = days[placeOf(starts, email.at)]!
      day.emails++
      increase(day.bySender, email.senderId)
      if (email.step !== null) increase(day.byStep, email.step)
      if (first.size < limit) first.push(email)
      else if (limit > 0 && compare(email, first.peek()!) < 0) {
        first.pop()
        first.push(email)
      }
    },
    addBeyond: (emails) => void (beyond += emails),
    total: () => total,
    beyond: () => beyond,
    days: () => days,
    first: () => first.values().toSorted(compare),
  }
}

const compare = (one: FutureEmail, other: FutureEmail): number =>
  one.at - other.at ||
  (one.contactId < other.contactId ? -1 : Number(one.contactId > other.contactId)) ||
  (one.step ?? 0) - (other.step ?? 0)

const increase = <Key>(counts: Map<Key, number>, key: Key) => void counts.set(key, (counts.get(key) ?? 0) + 1)

/** A day that a timezone left out begins where the next one does, and has no emails. */
function startOf(timezone: string, day: number): number {
  for (let number = day; ; number++) {
    const [opening] = openings({ timezone, startMinute: 0, endMinute: 1_440 }, number)
    if (opening) return opening.from
  }
}

/** The last day that has begun by then. What is before the first belongs to the first. */
function placeOf(starts: readonly number[], at: number): number {
  let [low, high] = [0, starts.length - 2]
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (starts[middle]! <= at) low = middle
    else high = middle - 1
  }
  return low
}
