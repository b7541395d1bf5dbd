import type { Database } from '../db/client.js'
import { lockSender } from '../db/lock-sender.js'
import { readClock } from '../db/sender-days.js'
import type { Sender } from '../db/senders.js'
import { lockSlotBook, saveSlotBook } from '../db/slot-book.js'
import { beginTurn, type LeasedBooking, lockLeasedBooking, rebook } from '../db/turns.js'
import { isWithinSendingWindow, localDayOf, OPEN_PACE, type Pace } from '../domain/pace.js'
import { bookSlot, drawGap, giveBackSlot, hasRoom, type Slot, type SlotBook, takeSlot } from '../domain/slots.js'
import { LOOK_AGAIN_MS } from './find-available-slot.js'
import type { PaceCheck } from './recheck-pace.js'

/**
 * Takes a sender's turn for an email of a sequence, right before it goes out: window, quota and gap are asked once more,
 * because it may have waited for hours and the pace may have been changed since it got its slot. What may not go now gets
 * a new slot of its own, without burning an attempt: so fifty that are overdue after a night without workers spread out
 * again.
 *
 * One transaction, which locks the leased action, then the sender, then its days. Two at once come one after the other,
 * and the second finds the turn the first has taken. A crash leaves the turn taken and nothing sent, which costs one gap.
 */
export async function takeTurn(
  db: Database,
  sender: Pick<Sender, 'id'>,
  { actionId, leaseToken, random }: { actionId: string; leaseToken: string; random: () => number },
): Promise<PaceCheck> {
  return db.transaction(async (tx): Promise<PaceCheck> => {
    const booking = await lockLeasedBooking(tx, actionId, leaseToken)
    if (!booking) return { kind: 'lost' }
    const locked = await lockSender(tx, sender.id)
    // It was removed this moment: whoever takes the email next is told so.
    if (!locked) return { kind: 'lost' }
    const now = await readClock(tx)
    const pace = locked.pace ?? OPEN_PACE
    const today = localDayOf(pace, now)
    const rested = restedAt(pace, locked.turnAt)
    const mayGo = isWithinSendingWindow(pace, now) && rested <= now
    if (mayGo && booking.bookedOn === today) {
      await beginTurn(tx, sender.id)
      return { kind: 'ok', day: today }
    }
    if (isInTime(pace, booking, now, rested)) return later(now, rested > booking.slotAt! ? rested : booking.slotAt!)

    const { bookedOn, slotAt } = booking
    const book = await lockSlotBook(tx, sender, bookedOn === null ? now : earlier(now, new Date(bookedOn)))
    if (bookedOn !== null) giveBackSlot(book, { day: bookedOn, at: slotAt })
    const goes = mayGo && hasRoom(book, today)
    const slot = goes ? bookNow(book, today, now) : takeSlot(book, notBefore(pace, locked.turnAt, now, random), random)
    await saveSlotBook(tx, sender.id, book)
    await rebook(tx, actionId, { bookedOn: slot?.day ?? null, slotAt: slot?.at ?? null })
    if (!goes) return later(now, slot?.at ?? new Date(now.getTime() + LOOK_AGAIN_MS))
    await beginTurn(tx, sender.id)
    return { kind: 'ok', day: today }
  })
}

/** A millisecond more, because reading cuts microseconds off. */
const restedAt = ({ gapMinSeconds }: Pace, turnAt: Date | null): Date =>
  turnAt && gapMinSeconds > 0 ? new Date(turnAt.getTime() + gapMinSeconds * 1_000 + 1) : new Date(0)

/**
 * Whether it came when it should, and only the one before it took a little longer: then it waits for that and keeps its
 * slot. Where slots are as close as they may be, each one would otherwise lose its place to the seconds the one before it
 * took, and go to the end of the day.
 */
function isInTime(pace: Pace, { bookedOn, slotAt }: LeasedBooking, now: Date, rested: Date): boolean {
  return (
    slotAt !== null &&
    rested > now &&
    slotAt.getTime() >= now.getTime() - pace.gapMinSeconds * 1_000 &&
    [now, rested, slotAt > rested ? slotAt : rested].every(
      (at) => isWithinSendingWindow(pace, at) && localDayOf(pace, at) === bookedOn,
    )
  )
}

/** Its slot is then when it really goes. */
function bookNow(book: SlotBook, day: string, now: Date): Slot {
  const slot = { day, at: new Date(Math.floor(now.getTime() / 1_000) * 1_000) }
  bookSlot(book, slot)
  return slot
}

const notBefore = (pace: Pace, turnAt: Date | null, now: Date, random: () => number): Date =>
  new Date(Math.max(now.getTime(), turnAt ? turnAt.getTime() + drawGap(pace, random) * 1_000 + 1 : 0))

const earlier = (one: Date, other: Date): Date => (one < other ? one : other)

const later = (now: Date, until: Date): PaceCheck => ({
  kind: 'later',
  until,
  waitMs: Math.max(until.getTime() - now.getTime(), 1),
})
