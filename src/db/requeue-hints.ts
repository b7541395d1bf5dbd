import { RELAXED_COMMIT, type Sql } from './client.js'
import { type Publishable, readPublishable } from './publishable.js'

/**
 * The relay's sweep: takes once more for publishing what a relay took and never published because it died, and what was
 * published and lost by its broker.
 *
 * A broker that can be asked names the jobs it has no more. Of another nobody knows which messages it has lost. But it
 * says how many it holds, and every message it holds has its row here: if there are more rows than messages, so many are
 * missing, the oldest presumably. Guessing a wrong one costs a second message for the same action. Only rows count that were confirmed before the broker was asked: what is published
 * while it answers is not in its answer. And only rows that are due and were published a while ago are taken, because
 * between a message's delivery and its claim there is a row without a message, too. In a queue that is slower than that
 * while such rows are old: missing is not yet lost, and the relay tells them apart.
 *
 * A row whose action is no longer waiting goes away: it was canceled, or claimed by somebody who looked for himself.
 *
 * Any number of relays may sweep at once: the rows are locked when they are found, and are young afterwards. A crash
 * after the commit leaves rows that are not published: the next sweep's.
 */
export interface Requeued {
  readonly actions: readonly Publishable[]
  /** Taken by a relay that never published them. */
  readonly unpublished: number
  /** Published, and no longer held by the broker: lost, or with a worker that has not claimed it yet. */
  readonly missing: number
  /** Rows that named nothing that waits. */
  readonly stale: number
}

const requeue = (now: string) => `
  with ${RELAXED_COMMIT}, old as materialized (
    select ${now} - $1::float8 * interval '1 millisecond' as before
  ), unpublished as materialized (
    select action_id from postrider.published_hints
    where queued_at <= (select before from old) and published_at is null
    order by queued_at limit $3::int for update skip locked
  ), missing as materialized (
    select action_id from postrider.published_hints
    where queued_at <= (select before from old) and run_at <= (select before from old) and published_at is not null
      and ($5::text[] is null or job_id = any ($5::text[]))
    order by queued_at
    limit least($3::int, (select greatest(0, count(*) - $2::int) from postrider.published_hints
      where $5::text[] is not null or published_at <= ${now} - $4::float8 * interval '1 millisecond'))
    for update skip locked
  ), found as materialized (
    select action_id from unpublished union all select action_id from missing
  ), waiting as materialized (
    select id from postrider.scheduled_actions
    where id = any (array(select action_id from found)) and state = 'pending'
  ), gone as (
    delete from postrider.published_hints
    where action_id = any (array(select action_id from found)) and action_id <> all (array(select id from waiting))
    returning action_id
  ), requeued as (
    update postrider.published_hints set queued_at = ${now}, published_at = null
    where action_id = any (array(select id from waiting))
    returning action_id, position, run_at
  )
  select coalesce((select json_agg(action) from (${readPublishable(now, 'requeued')}) action), '[]') as actions,
    (select count(*)::int from unpublished where action_id = any (array(select id from waiting))) as unpublished,
    (select count(*)::int from missing where action_id = any (array(select id from waiting))) as missing,
    (select count(*)::int from gone) as stale
  from relaxed`

export interface Requeueing {
  /** How old a row must be. */
  readonly afterMs: number
  /** The jobs it has no more, or how many messages it holds and how long ago it was asked. */
  readonly known: { readonly missing: readonly string[] } | { readonly held: number; readonly askedMs: number }
  readonly limit: number
}

export async function requeueHints(sql: Sql, { afterMs, known, limit }: Requeueing): Promise<Requeued> {
  const { held, askedMs, missing } = { held: 0, askedMs: 0, missing: null, ...known }
  const { rows } = await sql.query<Requeued>(requeue(sql.now), [afterMs, held, limit, askedMs, missing])
  return rows[0]!
}
