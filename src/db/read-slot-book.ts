import { localDayOf, OPEN_PACE } from '../domain/pace.js'
import type { SlotBook } from '../domain/slots.js'
import { DAY_MS, readIsoDate, toIsoDate } from '../domain/zone-days.js'
import type { Sql } from './client.js'
import type { Sender } from './senders.js'
import { REACH_DAYS } from './slot-book.js'

/** A copy of what is given away of a sender's days, to try things out in: nothing is locked, and it is never saved. */
export async function readSlotBook(sql: Sql, sender: Sender, from: Date): Promise<SlotBook> {
  const pace = sender.pace ?? OPEN_PACE
  const first = toIsoDate(readIsoDate(localDayOf(pace, from))! - REACH_DAYS)
  const { rows } = await sql.query<{ day: string; booked: number; slots: number[] }>(
    `select day::text, booked, slots from postrider.sender_days where sender_id = $1 and day >= $2 order by day`,
    [sender.id, first],
  )
  const days = rows.map(({ day, booked, slots }) => {
    const midnight = (readIsoDate(day)! * DAY_MS) / 1_000
    return [day, { booked, slots: slots.map((slot) => slot + midnight) }] as const
  })
  return { pace, rampUpFrom: sender.rampUpFrom, days: new Map(days), changed: new Set() }
}
