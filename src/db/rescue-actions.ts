import type { Sql } from './client.js'

/**
 * Brings back what workers that died, or lost the database for too long, were holding.
 *
 * Leased and not armed: nothing left the building, so it is pending again and due at once. Armed: nobody can know, so
 * it is `uncertain`, and stays so until evidence or a person settles it. The token stays on an uncertain row: the
 * worker may be alive after all and bring the answer.
 *
 * An action that was rescued often may be what kills its workers. It is never given up, but from the sixth time on it
 * waits longer each time (1 s, 2 s, 4 s … 10 min), so that it cannot keep a whole fleet restarting.
 *
 * The lease row is locked first and goes away in the same statement, so a renewal either comes before (and the lease
 * is not expired) or finds nothing.
 *
 * An action that somebody has locked is passed over, and its lease stays until the next sweep: a worker that froze, or
 * whose machine vanished, inside the transaction of an effect keeps its row locked for as long as the server believes in
 * it, and waiting here would keep everybody else's actions waiting as well. For the same reason a sweep walks on from
 * where the last batch ended: were it to begin with the oldest each time, a few such leases would hide all behind them.
 */
const rescue = (now: string) => `
  with expired as materialized (
    select token, expires_at, action_ids from postrider.leases
    where expires_at <= ${now} and (expires_at, token) > ($2::timestamptz, $3::uuid)
    order by expires_at, token limit $1
    for update skip locked
  ), found as materialized (
    select id from postrider.scheduled_actions
    where id = any (array(select unnest(action_ids) from expired))
      and lease_token = any (array(select token from expired)) and state in ('leased', 'armed')
    for update skip locked
  ), rescued as (
    update postrider.scheduled_actions action set
      (state, run_at, wake_at, lease_token, needs_attention, attempts, rescues, reason, reason_code, state_at) = (
        select
          case when armed then 'uncertain' else 'pending' end,
          case when armed or delay = interval '0' then run_at else ${now} + delay end,
          case when not armed then ${now} + delay end,
          case when armed then lease_token end,
          armed,
          attempts + case when armed then 1 else 0 end,
          rescues + 1,
          case when armed then 'The worker stopped between handing it over and recording the answer.' else reason end,
          case when armed then 'lease_expired' else reason_code end,
          ${now}
        from (select action.state = 'armed' as armed, case when action.rescues < 5 then interval '0'
          else least(2 ^ least(action.rescues - 5, 20), 600) * interval '1 second' end as delay) decided)
    where id = any (array(select id from found))
      and lease_token = any (array(select token from expired)) and state in ('leased', 'armed')
    returning id, state
  ), removed as (
    delete from postrider.leases where token = any (array(select token from expired)) and not exists (
      select 1 from postrider.scheduled_actions
      where id = any (action_ids) and lease_token = token and state in ('leased', 'armed')
        and id <> all (array(select id from found)))
    returning token
  )
  select (select count(*)::int from removed) as leases,
    (select count(*)::int from rescued where state = 'pending') as pending,
    coalesce((select array_agg(id) from rescued where state = 'uncertain'), '{}') as uncertain,
    (select json_build_object('at', expires_at::text, 'token', token) from expired
     order by expires_at desc, token desc limit 1) as next`

export interface Rescue {
  /** Leases that are over and gone. */
  readonly leases: number
  /** Actions that are pending again. */
  readonly pending: number
  /** Ids of the actions that became uncertain. */
  readonly uncertain: readonly string[]
  /** Where the next batch of this sweep begins; null when no lease was left to look at. */
  readonly next: RescueCursor | null
}

export interface RescueCursor {
  /** As text: a Date would cut the microseconds off and visit the same lease for ever. */
  readonly at: string
  readonly token: string
}

const OLDEST: RescueCursor = { at: '-infinity', token: '00000000-0000-0000-0000-000000000000' }

export async function rescueActions(sql: Sql, limit: number, after: RescueCursor = OLDEST): Promise<Rescue> {
  const { rows } = await sql.query<Rescue>(rescue(sql.now), [limit, after.at, after.token])
  return rows[0]!
}
