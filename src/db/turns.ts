import type { Settlement } from '../domain/action.js'
import type { Sql } from './client.js'
import { goingClock } from './sender-days.js'

/**
 * A sender's turn: the time during which it hands over an email that keeps a gap. `turn_at` is when the last one began
 * or, later, ended; the next one begins at least the smallest gap after that. It is what really happened, where slots
 * are what was planned.
 */
export interface LeasedBooking {
  readonly bookedOn: string | null
  readonly slotAt: Date | null
}

/** Locks an email that is about to go out; null when it is not this lease's any more. */
export async function lockLeasedBooking(tx: Sql, actionId: string, leaseToken: string): Promise<LeasedBooking | null> {
  const { rows } = await tx.query<LeasedBooking>(
    `select booked_on::text as "bookedOn", slot_at as "slotAt" from postrider.scheduled_actions
     where id = $1 and lease_token = $2 and state = 'leased' for update`,
    [actionId, leaseToken],
  )
  return rows[0] ?? null
}

/** Under `lockLeasedBooking`. */
export async function rebook(tx: Sql, actionId: string, { bookedOn, slotAt }: LeasedBooking): Promise<void> {
  await tx.query(`update postrider.scheduled_actions set booked_on = $2, slot_at = $3 where id = $1`, [
    actionId,
    bookedOn,
    slotAt,
  ])
}

/** Under `lockSender`. */
export async function beginTurn(tx: Sql, senderId: string): Promise<void> {
  await tx.query(`update postrider.senders set turn_at = ${goingClock(tx)} where id = $1`, [senderId])
}

/**
 * The hand-over is over, so the gap is measured from now. Each sender in a statement of its own, before the settling and
 * not in it: settling locks days of many senders, and holding one sender while waiting for the days of another is what
 * would make it and a launch wait for each other. A crash in between costs nothing: the turn did end. Emails without a gap,
 * which are most, cost no statement.
 */
export async function endTurns(sql: Sql, done: readonly Settlement[]): Promise<void> {
  const senders = new Set<string>()
  for (const { outcome } of done) if (outcome.booking?.keepsGap) senders.add(outcome.booking.senderId)
  for (const senderId of senders)
    await sql.query(`update postrider.senders set turn_at = greatest(turn_at, ${sql.now}) where id = $1`, [senderId])
}
