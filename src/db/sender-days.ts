import type { Sql } from './client.js'

/**
 * A sender's days, as they are read. What writes them has a file for each statement: book-sender-day, move-booking,
 * unbook-sender-day and count-sent. Whoever locks an action and a day takes the action first, and days in the order of
 * their key; so no two of them can wait for each other.
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
