import type { Sql } from './client.js'
import { lockSender } from './lock-sender.js'

/**
 * Books up to so many emails on a day of a sender, and says how many it got.
 *
 * The sender is locked first, so that nobody books beside a slot book (slot-book), and then the row of the day before it
 * is read: what is left of the quota is what is left when it is taken, and any number of bookers together never get more
 * than the quota. The locks are held until the caller's transaction ends, which is when its emails exist; if it does not
 * commit, neither does the booking, so a crash leaves no place taken by nobody.
 *
 * The first booker of a day finds no row to lock and inserts one. If an email that is moved there (move-booking) makes it
 * at the same moment, the insert waits for that and then does nothing, and the next look finds the row.
 */
const BOOK = `
  with held as materialized (
    select booked from postrider.sender_days where sender_id = $1 and day = $2 for update
  ), granted as materialized (
    select case when $4::int is null then $3::int else greatest(least($3::int, $4::int - booked), 0) end as count from held
  ), booked as (
    update postrider.sender_days set booked = sender_days.booked + granted.count from granted
    where sender_id = $1 and day = $2 and granted.count > 0
  )
  select count from granted`

const BEGIN = `
  insert into postrider.sender_days (sender_id, day, booked) values ($1, $2, least($3::int, $4::int))
  on conflict do nothing returning booked as count`

/** Without a quota all are granted, and counted. */
export async function bookSenderDay(
  tx: Sql,
  senderId: string,
  day: string,
  wanted: number,
  quota: number | null,
): Promise<number> {
  const values = [senderId, day, wanted, quota]
  await lockSender(tx, senderId)
  for (;;) {
    const held = await tx.query<{ count: number }>(BOOK, values)
    if (held.rows[0]) return held.rows[0].count
    const begun = await tx.query<{ count: number }>(BEGIN, values)
    if (begun.rows[0]) return begun.rows[0].count
  }
}
