import type { Sql } from '../db/client.js'
import { findBookings } from '../db/sender-days.js'
import type { Sender } from '../db/senders.js'
import { getFirstSlotAfterDay, getNextSendingSlot, localDayOf, quotaOn } from '../domain/pace.js'

/** When no slot is in sight, because all days are blacked out: somebody may have changed that by then. */
export const LOOK_AGAIN_MS = 86_400_000

/** The first instant from `after` on at which the window is open and the day has quota left; null: not within two years. */
export async function findAvailableSlot(sql: Sql, sender: Sender, after: Date): Promise<Date | null> {
  const { pace, rampUpFrom } = sender
  if (!pace) return after
  const first = getNextSendingSlot(pace, after)
  if (!first || pace.dailyQuota === null) return first
  const bookings = await findBookings(sql, sender.workspaceId, sender.id, localDayOf(pace, first))
  for (let slot: Date | null = first; slot;) {
    const day = localDayOf(pace, slot)
    const quota = quotaOn(pace, rampUpFrom, day)
    if (quota === null || (bookings.get(day) ?? 0) < quota) return slot
    slot = getFirstSlotAfterDay(pace, day)
  }
  return null
}
