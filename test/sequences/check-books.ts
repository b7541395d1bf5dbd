import type { Database } from '../../src/db/client.js'

/**
 * Whether the senders' days say what the emails say: as much is booked on a day as there are emails booked on it that went
 * out or still may, and its slots are theirs (a sender without a gap keeps none). Returns what is wrong, a sentence each.
 */
const GIVEN_BACK = ['skipped', 'canceled', 'expired', 'dismissed']

export async function checkBooks(db: Database): Promise<string[]> {
  const { rows } = await db.query<{
    address: string
    day: string
    booked: number
    emails: number
    slots: readonly number[]
    wanted: readonly number[]
    keepsSlots: boolean
  }>(
    `with held as (
       select sender_id, booked_on as day, count(*)::int as emails,
         coalesce(array_agg((extract(epoch from slot_at) - extract(epoch from booked_on))::int order by slot_at)
           filter (where slot_at is not null), '{}') as wanted
       from postrider.scheduled_actions action join postrider.enrollments on enrollments.id = enrollment_id
       where action.type = 'send' and booked_on is not null and action.state <> all ($1::text[])
       group by sender_id, booked_on
     )
     select address, day::text, coalesce(booked, 0) as booked, coalesce(emails, 0) as emails,
       coalesce(slots, '{}') as slots, coalesce(wanted, '{}') as wanted,
       coalesce((pace ->> 'gapMaxSeconds')::int, 1) > 0 as "keepsSlots"
     from held full join postrider.sender_days using (sender_id, day) join postrider.senders on senders.id = sender_id
     order by day`,
    [GIVEN_BACK],
  )
  return rows.flatMap(({ address, day, booked, emails, slots, wanted, keepsSlots }) => [
    ...(booked === emails ? [] : [`${address} has ${booked} booked on ${day}, and ${emails} emails`]),
    ...(!keepsSlots || slots.join() === wanted.join()
      ? []
      : [`${address} has given away ${slots.join()} on ${day}, and its emails have ${wanted.join()}`]),
  ])
}
