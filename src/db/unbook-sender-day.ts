import type { Sql } from './client.js'

/**
 * Gives back what was booked on a day and will not be sent: people who were left out after booking, and emails that end
 * without going out. Run it in the transaction that decides so; repeated on its own it would give back twice. Who has
 * booked there holds the sender already. It needs no slot book: what has a slot is given back by give-back-bookings.
 */
export async function unbook(tx: Sql, senderId: string, day: string, count: number): Promise<void> {
  if (count <= 0) return
  await tx.query(
    `update postrider.sender_days set booked = greatest(booked - $3::int, 0) where sender_id = $1 and day = $2`,
    [senderId, day, count],
  )
}
