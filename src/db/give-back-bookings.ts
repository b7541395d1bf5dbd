import { giveBackSlot } from '../domain/slots.js'
import type { Sql } from './client.js'
import { lockBookedDays, saveSlotBook } from './slot-book.js'

/**
 * Gives back what was booked for emails that will not go out, with their slots: in the transaction that calls them off,
 * after they were called off. Senders are locked in the order of their ids, and then their days.
 */
export interface GivenBack {
  readonly senderId: string
  readonly bookedOn: string | null
  readonly slotAt: Date | null
}

export async function giveBackBookings(tx: Sql, bookings: readonly GivenBack[]): Promise<void> {
  const bySender = new Map<string, { day: string; at: Date | null }[]>()
  for (const { senderId, bookedOn, slotAt } of bookings) {
    if (bookedOn === null) continue
    const known = bySender.get(senderId) ?? []
    known.push({ day: bookedOn, at: slotAt })
    bySender.set(senderId, known)
  }
  for (const senderId of [...bySender.keys()].toSorted()) {
    const slots = bySender.get(senderId)!
    const book = await lockBookedDays(tx, senderId, [...new Set(slots.map(({ day }) => day))])
    if (!book) continue
    for (const slot of slots) giveBackSlot(book, slot)
    await saveSlotBook(tx, senderId, book)
  }
}

/** Of what waits in the lane of a sequence's campaign, or is due and was held there. */
export async function findBookingsOfLane(tx: Sql, laneId: string): Promise<GivenBack[]> {
  const { rows } = await tx.query<GivenBack>(
    `select sender_id as "senderId", booked_on::text as "bookedOn", slot_at as "slotAt"
     from postrider.scheduled_actions action join postrider.enrollments on enrollments.id = action.enrollment_id
     where action.lane_id = $1 and action.state = 'pending' and booked_on is not null`,
    [laneId],
  )
  return rows
}

/** Of an email that was not sent after all. It has none afterwards, so that it is given back once. */
export async function takeBookingOfSkipped(tx: Sql, actionId: string): Promise<GivenBack[]> {
  const { rows } = await tx.query<GivenBack>(
    `with mine as materialized (
       select action.id as mine_id, sender_id, booked_on as day, slot_at as slot
       from postrider.scheduled_actions action join postrider.enrollments on enrollments.id = action.enrollment_id
       where action.id = $1 and action.state = 'skipped' and booked_on is not null for update of action
     )
     update postrider.scheduled_actions action set booked_on = null, slot_at = null from mine where action.id = mine_id
     returning sender_id as "senderId", day::text as "bookedOn", slot as "slotAt"`,
    [actionId],
  )
  return rows
}
