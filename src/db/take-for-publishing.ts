import { BULK_LANE } from '../domain/lane.js'
import { RELAXED_COMMIT, type Sql } from './client.js'
import { type Publishable, readPublishable } from './publishable.js'
import { NEXT_CURSOR, takeHints } from './take-hints.js'

/**
 * Takes a fair batch of what is due for publishing: hints leave `ready_actions` and become rows of `published_hints`, in
 * one statement. The primary key decides between relays: an action is in one relay's hands at a time.
 *
 * Never more are out than `most`, so that what a broker holds does not depend on the backlog, and fairness between lanes
 * is decided here, late, not by the order in which a broker was filled. When bulk has used that up, single emails may
 * still go over it by `urgent`: they must not wait until bulk has made room.
 *
 * An action that is out already (two hints named it) is not published again. Its row says when that was noticed, so
 * that a consumer which is just then taking the row away, for a state it saw a moment before, leaves it; were it to go,
 * the action would have no hint at all.
 *
 * A crash before the commit leaves the hints. After it the rows are there, unpublished, and the sweep (`requeue-hints`)
 * publishes them. The commit need not wait for the disk: forgotten, it leaves the hints where they were.
 */
export interface Taking {
  readonly limit: number
  readonly most: number
  readonly urgent: number
  readonly cursor: string
}

export interface TakenForPublishing {
  readonly actions: readonly Publishable[]
  /** How many hints were looked at; 0 when nothing is due, or nothing more may be out. */
  readonly looked: number
  /** More may be due, but no more may be out. */
  readonly full: boolean
  readonly cursor: string
}

const ROOM = '(select places from room)'
const MOST_PRIORITY = `(select most_priority from room)`

const take = (now: string) => `
  with recursive ${RELAXED_COMMIT}, room as materialized (
    select least($1::int, case when outside < $2::int then $2::int - outside
        else greatest(0, $2::int + $3::int - outside) end)::int as places,
      case when outside < $2::int then 100 else ${BULK_LANE.priority - 1} end as most_priority
    from (select count(*)::int as outside from postrider.published_hints where run_at <= ${now}) counted
  ), ${takeHints({ now, limit: ROOM, cursor: '$4::uuid', mostPriority: MOST_PRIORITY })},
  published as (
    insert into postrider.published_hints (action_id, lane_id, run_at, queued_at)
    select id, lane_id, run_at, ${now} from postrider.scheduled_actions
    where id = any (array(select unnest(ids) from taken)) and state = 'pending'
    order by id
    on conflict (action_id) do update set queued_at = excluded.queued_at
    returning action_id, position, run_at, xmax = 0 as fresh
  ), fresh as materialized (select action_id, position, run_at from published where fresh
  )
  select (select coalesce(sum(cardinality(ids)), 0)::int from taken) as looked,
    (select places < $1::int from room) as full, ${NEXT_CURSOR} as cursor,
    coalesce((select json_agg(action) from (${readPublishable(now, 'fresh')}) action), '[]') as actions
  from relaxed`

export async function takeForPublishing(
  sql: Sql,
  { limit, most, urgent, cursor }: Taking,
): Promise<TakenForPublishing> {
  const { rows } = await sql.query<TakenForPublishing & { cursor: string | null }>(take(sql.now), [
    limit,
    most,
    urgent,
    cursor,
  ])
  return { ...rows[0]!, cursor: rows[0]!.cursor ?? cursor }
}
