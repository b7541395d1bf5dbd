import type { Pace } from '../domain/pace.js'
import type { Sql } from './client.js'

/**
 * Locks a sender until the transaction ends, and reads what its emails are planned by as it is then.
 *
 * Whoever books on a sender's days holds this lock while it looks for room and until what it booked is committed: a
 * launch, a batch of a campaign, an email that takes its turn or gives its slot back. Two of them therefore never look
 * at the same time, also where there is no row of a day yet that could be locked. It is the lock that an update of the
 * sender takes, so a pace does not change under who holds it; rows that refer to the sender may be written meanwhile.
 *
 * The order everywhere is action, sender, days in the order of their key; several senders in the order of their id.
 */
export interface LockedSender {
  /** Null: at any time, as much as there is. */
  readonly pace: Pace | null
  readonly rampUpFrom: string | null
  /** When it last began or ended to hand over an email that keeps a gap. */
  readonly turnAt: Date | null
}

/** Null when there is no such sender. */
export async function lockSender(tx: Sql, senderId: string): Promise<LockedSender | null> {
  const { rows } = await tx.query<LockedSender>(
    `select pace, ramp_up_from::text as "rampUpFrom", turn_at as "turnAt" from postrider.senders where id = $1
     for no key update`,
    [senderId],
  )
  return rows[0] ?? null
}
