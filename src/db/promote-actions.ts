import { RELAXED_COMMIT, type Sql } from './client.js'
import { hintActions } from './hint-actions.js'

/**
 * Turns waiting actions that have fallen due into hints. Scheduled for later, retried, released, rescued: all of them
 * wait on `wake_at`, and this is the only way out. Its cost is what has fallen due since the last time, one index probe
 * when nothing has. Several workers may run it at once: each takes other rows.
 *
 * The rows are locked when they are found, so the update need not ask again; told the time twice, the planner once read
 * everything that was due for every thousand of it.
 *
 * With a broker, what was published ahead of its time (take-soon-due) is left to the message that is on its way.
 *
 * A crash before the commit leaves the rows waiting, after it they have their hints.
 */
export interface Promotion {
  readonly promoted: number
  /** How long until the next one falls due, by the database's clock; null when nothing waits. */
  readonly nextInMs: number | null
}

const UNPUBLISHED = `and not exists (select 1 from postrider.published_hints where action_id = action.id)`

// The limit is part of the text: of one it cannot see the planner believes that it is a tenth of all that waits, finds a
// plan for any limit too dear to keep, and plans anew each time, which was a third of what a promotion cost.
const promote = (now: string, which: string, limit: number) => `
  with ${RELAXED_COMMIT}, due as materialized (
    select id from postrider.scheduled_actions action where wake_at <= ${now} ${which} order by wake_at limit ${limit}
    for update skip locked
  ), promoted as (
    update postrider.scheduled_actions set wake_at = null
    where id = any (array(select id from due))
    returning lane_id, run_at, id
  ), hinted as (${hintActions('select lane_id, run_at, id from promoted')}
  )
  select
    (select count(*)::int from promoted) as promoted,
    (select (extract(epoch from wake_at - ${now}) * 1000)::float8 from postrider.scheduled_actions
     where wake_at > ${now} order by wake_at limit 1) as next_in_ms
  from relaxed`

export async function promoteActions(
  sql: Sql,
  limit: number,
  { unpublished = false }: { readonly unpublished?: boolean } = {},
): Promise<Promotion> {
  const { rows } = await sql.query<{ promoted: number; next_in_ms: number | null }>(
    promote(sql.now, unpublished ? UNPUBLISHED : '', limit),
    [],
    { name: `promote ${limit}${unpublished ? ' unpublished' : ''}` },
  )
  return { promoted: rows[0]!.promoted, nextInMs: rows[0]!.next_in_ms }
}
