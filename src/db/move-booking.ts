import type { Sql } from './client.js'

/**
 * Moves the booking of an email to another day, if that day has room: the email, the day it leaves and the day it comes
 * to, in one statement.
 *
 * Only the holder of the lease moves it, and only from the day it was believed to be on, so a move that is repeated after
 * a lost answer, or tried by two, happens once. The email is locked first, then the sender, as everybody does who books,
 * and then both days in order; what room there is, is read under those locks. A crash leaves all of it moved or nothing.
 */
export interface Booking {
  readonly actionId: string
  readonly leaseToken: string
  readonly senderId: string
  /** Null: it is not booked yet. */
  readonly bookedOn: string | null
}

const MOVE = `
  with mine as materialized (
    select id from postrider.scheduled_actions
    where id = $1 and lease_token = $2 and state = 'leased' and booked_on is not distinct from $4::date for update
  ), booker as materialized (
    select id from postrider.senders where id = $3 and exists (select 1 from mine) for no key update
  ), held as materialized (
    select day, booked from postrider.sender_days
    where sender_id = $3 and day in ($4::date, $5::date) and exists (select 1 from booker) order by day for update
  ), moved as (
    update postrider.scheduled_actions set booked_on = $5
    where id in (select id from mine) and lease_token = $2 and state = 'leased'
      and exists (select 1 from held where day = $5 and ($6::int is null or booked < $6::int))
    returning id
  ), counted as (
    update postrider.sender_days set booked = greatest(booked + case day when $5 then 1 else -1 end, 0)
    where sender_id = $3 and day in ($4::date, $5::date) and exists (select 1 from moved)
  )
  select exists (select 1 from moved) as moved, exists (select 1 from mine) as held`

/** `lost`: it is not this lease's any more, or somebody has moved it already. */
export async function moveBooking(
  sql: Sql,
  { actionId, leaseToken, senderId, bookedOn }: Booking,
  day: string,
  quota: number | null,
): Promise<'moved' | 'full' | 'lost'> {
  // So that there is a row to lock. An empty day says nothing.
  await sql.query(`insert into postrider.sender_days (sender_id, day) values ($1, $2) on conflict do nothing`, [
    senderId,
    day,
  ])
  const { rows } = await sql.query<{ moved: boolean; held: boolean }>(MOVE, [
    actionId,
    leaseToken,
    senderId,
    bookedOn,
    day,
    quota,
  ])
  const { moved, held } = rows[0]!
  return moved ? 'moved' : held ? 'full' : 'lost'
}
