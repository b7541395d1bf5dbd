import { bookSenderDay } from '../db/book-sender-day.js'
import type { Sql } from '../db/client.js'
import { readNow } from '../db/sender-days.js'
import type { Sender } from '../db/senders.js'
import { isWithinSendingWindow, localDayOf, quotaOn } from '../domain/pace.js'
import { findAvailableSlot, LOOK_AGAIN_MS } from './find-available-slot.js'

/**
 * Books emails of a bulk campaign on today, as far as today's quota goes. The gap between two emails is for sequences;
 * in bulk the window and the quota are what counts.
 */
export type BulkBooking =
  | { readonly kind: 'open'; readonly granted: number; /** Null: nothing to book on. */ readonly day: string | null }
  | { readonly kind: 'closed'; readonly until: Date; readonly why: 'outside_window' | 'quota_used' }

/** In the transaction that writes the emails. What is granted and then not planned must be unbooked there. */
export async function bookBulk(tx: Sql, sender: Sender, wanted: number): Promise<BulkBooking> {
  const { pace, rampUpFrom } = sender
  if (!pace) return { kind: 'open', granted: wanted, day: null }
  const now = await readNow(tx)
  const closed = async (why: 'outside_window' | 'quota_used') => ({
    kind: 'closed' as const,
    until: (await findAvailableSlot(tx, sender, now)) ?? new Date(now.getTime() + LOOK_AGAIN_MS),
    why,
  })
  if (!isWithinSendingWindow(pace, now)) return closed('outside_window')
  const day = localDayOf(pace, now)
  if (wanted <= 0) return { kind: 'open', granted: 0, day }
  const granted = await bookSenderDay(tx, sender.id, day, wanted, quotaOn(pace, rampUpFrom, day))
  return granted > 0 ? { kind: 'open', granted, day } : closed('quota_used')
}
