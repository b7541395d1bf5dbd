import type { Sql } from '../db/client.js'
import { type Booking, moveBooking } from '../db/move-booking.js'
import { readNow } from '../db/sender-days.js'
import type { Sender } from '../db/senders.js'
import { isWithinSendingWindow, localDayOf, quotaOn } from '../domain/pace.js'
import { findAvailableSlot, LOOK_AGAIN_MS } from './find-available-slot.js'

/**
 * Looks at the pace once more right before an email goes out: it may have waited for hours, and the pace may have been
 * changed. What may not go now is given back for later, without burning an attempt.
 *   ok      it may go, and counts on `day` (null: its sender has no pace)
 *   later   not before `until`, which is `waitMs` from now by the database's clock
 *   lost    the lease is not this worker's any more
 */
export type PaceCheck =
  | { readonly kind: 'ok'; readonly day: string | null }
  | { readonly kind: 'later'; readonly until: Date; readonly waitMs: number }
  | { readonly kind: 'lost' }

export async function recheckPace(sql: Sql, sender: Sender, action: Omit<Booking, 'senderId'>): Promise<PaceCheck> {
  const { pace, rampUpFrom } = sender
  if (!pace) return { kind: 'ok', day: action.bookedOn }
  const now = await readNow(sql)
  const today = localDayOf(pace, now)
  if (isWithinSendingWindow(pace, now)) {
    if (action.bookedOn === today) return { kind: 'ok', day: today }
    const moved = await moveBooking(sql, { ...action, senderId: sender.id }, today, quotaOn(pace, rampUpFrom, today))
    if (moved === 'moved') return { kind: 'ok', day: today }
    if (moved === 'lost') return { kind: 'lost' }
  }
  const until = (await findAvailableSlot(sql, sender, now)) ?? new Date(now.getTime() + LOOK_AGAIN_MS)
  return { kind: 'later', until, waitMs: Math.max(until.getTime() - now.getTime(), 1) }
}
