import type { Sql } from './client.js'

/** What is asked of many senders at once: what each has used of a day, and until when its server slowed it down. */
export interface SenderState {
  readonly booked: number
  readonly sent: number
  readonly heldUntil: Date | null
}

/** By sender, for the day given with each. */
export async function readSenderStates(
  sql: Sql,
  days: readonly { readonly senderId: string; readonly day: string }[],
): Promise<ReadonlyMap<string, SenderState>> {
  const { rows } = await sql.query<SenderState & { id: string }>(
    `select asked.id, coalesce(booked, 0) as booked, coalesce(sent, 0) as sent,
       case when held_until > ${sql.now} then held_until end as "heldUntil"
     from unnest($1::uuid[], $2::date[]) as asked (id, day)
       left join postrider.sender_days on sender_id = asked.id and sender_days.day = asked.day
       left join postrider.lanes on lanes.id = asked.id`,
    [days.map(({ senderId }) => senderId), days.map(({ day }) => day)],
  )
  return new Map(rows.map(({ id, ...state }) => [id, state]))
}
