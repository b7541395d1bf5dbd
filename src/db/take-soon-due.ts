import { RELAXED_COMMIT, type Sql } from './client.js'
import { type Publishable, readPublishable } from './publishable.js'

/**
 * Takes what falls due within the horizon for publishing ahead, as messages a broker holds back until then. The actions
 * themselves are not touched: they go on waiting on `wake_at`, so one whose message is lost, or that is rescheduled
 * meanwhile, is promoted like any other. Two relays may find the same one; the primary key decides.
 *
 * Whatever is out counts, due or not: if more falls due than is worked off, what was published ahead would otherwise pile
 * up at the broker, one horizon after the other. Without a place here an action waits for its turn among the due.
 *
 * A crash leaves rows that were not published: the sweep finds them when their time has come.
 */
export interface SoonDue {
  readonly actions: readonly Publishable[]
  /** How long until the next one comes within the horizon; null when nothing more waits. */
  readonly nextInMs: number | null
}

const take = (now: string) => `
  with ${RELAXED_COMMIT}, room as materialized (
    select greatest(0, $1::int - count(*))::int as places from postrider.published_hints
  ), soon as materialized (
    select id, lane_id, wake_at from postrider.scheduled_actions action
    where wake_at > ${now} and wake_at <= ${now} + $2::float8 * interval '1 millisecond'
      and not exists (select 1 from postrider.published_hints where action_id = action.id)
    order by wake_at limit (select places from room)
  ), published as (
    insert into postrider.published_hints (action_id, lane_id, run_at, queued_at)
    select id, lane_id, wake_at, ${now} from soon order by id
    on conflict (action_id) do nothing
    returning action_id, position, run_at
  )
  select coalesce((select json_agg(action) from (${readPublishable(now, 'published')}) action), '[]') as actions,
    (select (extract(epoch from wake_at - ${now}) * 1000)::float8 - $2::float8 from postrider.scheduled_actions
     where wake_at > ${now} + $2::float8 * interval '1 millisecond' order by wake_at limit 1) as "nextInMs"
  from relaxed`

export async function takeSoonDue(sql: Sql, most: number, horizonMs: number): Promise<SoonDue> {
  const { rows } = await sql.query<SoonDue>(take(sql.now), [most, horizonMs])
  return rows[0]!
}
