import type { Sql } from './client.js'

/**
 * A sender's days, as they are read. What writes them has a file for each statement: slot-book, book-sender-day,
 * move-booking, unbook-sender-day and count-sent. Whoever books holds the sender (lock-sender). Actions are locked first,
 * then the sender, then days in the order of their key; so no two of them can wait for each other.
 */
export interface SenderDay {
  readonly booked: number
  readonly sent: number
}

const UNTOUCHED: SenderDay = { booked: 0, sent: 0 }

export async function readNow(sql: Sql): Promise<Date> {
  const { rows } = await sql.query<{ now: Date }>(`select ${sql.now} as now`)
  return rows[0]!.now
}

/**
 * The database's clock as it goes on within a transaction, where `now` stands still: after waiting for a lock it is not
 * the time any more.
 */
export const goingClock = (sql: Sql): string => `(${sql.now} + (clock_timestamp() - now()))`

export async function readClock(sql: Sql): Promise<Date> {
  const { rows } = await sql.query<{ now: Date }>(`select ${goingClock(sql)} as now`)
  return rows[0]!.now
}

export async function findSenderDay(sql: Sql, workspaceId: string, senderId: string, day: string): Promise<SenderDay> {
  const { rows } = await sql.query<SenderDay>(
    `select booked, sent from postrider.sender_days
     where sender_id = (select id from postrider.senders where workspace_id = $1 and id = $2) and day = $3`,
    [workspaceId, senderId, day],
  )
  return rows[0] ?? UNTOUCHED
}

/** How many are booked on each day from this one on; a day on which none are is not in it. */
export async function findBookings(
  sql: Sql,
  workspaceId: string,
  senderId: string,
  from: string,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql.query<{ day: string; booked: number }>(
    `select day::text, booked from postrider.sender_days
     where sender_id = (select id from postrider.senders where workspace_id = $1 and id = $2)
       and day >= $3 and booked > 0`,
    [workspaceId, senderId, from],
  )
  return new Map(rows.map(({ day, booked }) => [day, booked]))
}
