import type { Settlement } from '../domain/action.js'
import { NOTHING, type Step } from './record-attempts.js'

/**
 * The step of a settling statement that counts what went out on the days of its senders.
 *
 * Only what the statement has really written as done is counted, so a settling that is repeated after a lost answer, or
 * comes from a worker that lost its lease, counts nothing. The days are locked in the order of their key, after the
 * emails: two groups that settle at the same moment wait for each other, but never both. Emails that are not booked on a
 * day, which are most, add nothing to the statement.
 */
export function countSent(settlements: readonly Settlement[], parameter: number): Step {
  const rows = settlements.flatMap(({ id, outcome: { kind, booking } }) =>
    kind === 'done' && booking ? [{ action_id: id, sender_id: booking.senderId, day: booking.day }] : [],
  )
  if (rows.length === 0) return NOTHING
  return {
    statement: `sent_on as materialized (
    select sender_id, day, going.count from postrider.sender_days join (
      select sender_id, day, count(*)::int as count
      from json_to_recordset($${parameter}::json) as row (action_id uuid, sender_id uuid, day date)
      where action_id in (select id from written) group by sender_id, day) going using (sender_id, day)
    order by sender_id, day for update of sender_days
  ), counted as (
    update postrider.sender_days set sent = sender_days.sent + sent_on.count from sent_on
    where sender_days.sender_id = sent_on.sender_id and sender_days.day = sent_on.day)`,
    values: [JSON.stringify(rows)],
  }
}
