import { localDayOf, OPEN_PACE } from '../domain/pace.js'
import type { BookedDay, SlotBook } from '../domain/slots.js'
import { DAY_MS, readIsoDate, toIsoDate } from '../domain/zone-days.js'
import { PostriderError } from '../errors.js'
import type { Sql } from './client.js'
import { lockSender } from './lock-sender.js'
import type { Sender } from './senders.js'

/**
 * A sender's days, held by one transaction: read once, given away in memory by the pure rules of slots.ts, and written
 * back with one statement.
 *
 * The sender's row is locked first, then its days in order. So of two launches at once the second one waits until the
 * first has committed, and then reads what that has given away: together they cannot exceed a quota, leave the window or
 * come closer than the gap, because the second one searches exactly as if it had come a day later. Everybody else who
 * books takes the same lock (lock-sender), also bulk campaigns, which have no slots. The days are locked as well, because
 * what was given away is written back as a whole, and counting what went out does not ask for the sender.
 *
 * Nothing is booked before the commit: a crash leaves what was there, and no slot that belongs to nobody.
 */
const READ = `
  select day::text, booked, slots from postrider.sender_days where sender_id = $1 and day >= $2 order by day for update`

const READ_SOME = `
  select day::text, booked, slots from postrider.sender_days where sender_id = $1 and day = any ($2::date[])
  order by day for update`

const SAVE = `
  insert into postrider.sender_days (sender_id, day, booked, slots)
  select $1, day, booked, slots from json_to_recordset($2::json) as row (day date, booked int, slots int[]) order by day
  on conflict (sender_id, day) do update set booked = excluded.booked, slots = excluded.slots`

/**
 * How many dates further back a slot may be booked and still be less than a gap away, which is a day at most: the day
 * before; and two more, because the same instant has had another date if the sender's timezone was changed.
 */
export const REACH_DAYS = 3
const DAY_SECONDS = DAY_MS / 1_000

interface StoredDay {
  readonly day: string
  readonly booked: number
  /** Seconds since midnight UTC of the day. */
  readonly slots: readonly number[]
}

/** What is given away from shortly before `from` on, with the pace as it is now: the sender given may be an older one. */
export async function lockSlotBook(tx: Sql, sender: Pick<Sender, 'id'>, from: Date): Promise<SlotBook> {
  const locked = await lockSender(tx, sender.id)
  if (!locked) throw new PostriderError('sender_not_found', 'There is no such sender.')
  const pace = locked.pace ?? OPEN_PACE
  const first = toIsoDate(readIsoDate(localDayOf(pace, from))! - REACH_DAYS)
  const { rows } = await tx.query<StoredDay>(READ, [sender.id, first])
  return { pace, rampUpFrom: locked.rampUpFrom, days: new Map(rows.map(toBooked)), changed: new Set() }
}

/** Only these dates, to give back what is booked on them: nothing can be found in such a book. */
export async function lockBookedDays(tx: Sql, senderId: string, dates: readonly string[]): Promise<SlotBook | null> {
  const locked = await lockSender(tx, senderId)
  if (!locked) return null
  const { rows } = await tx.query<StoredDay>(READ_SOME, [senderId, dates])
  return { pace: locked.pace ?? OPEN_PACE, rampUpFrom: null, days: new Map(rows.map(toBooked)), changed: new Set() }
}

/** In the transaction that locked it. */
export async function saveSlotBook(tx: Sql, senderId: string, book: SlotBook): Promise<void> {
  if (book.changed.size === 0) return
  const days = [...book.changed].map((day) => {
    const { booked, slots } = book.days.get(day)!
    const midnight = readIsoDate(day)! * DAY_SECONDS
    return { day, booked, slots: slots.map((slot) => slot - midnight) }
  })
  await tx.query(SAVE, [senderId, JSON.stringify(days)])
  book.changed.clear()
}

function toBooked({ day, booked, slots }: StoredDay): [string, BookedDay] {
  const midnight = readIsoDate(day)! * DAY_SECONDS
  return [day, { booked, slots: slots.map((slot) => slot + midnight) }]
}
