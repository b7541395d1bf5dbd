import type { Database, Sql } from './client.js'
import { readHorizon } from './read-changes.js'

/**
 * What came of attempts over time. They are counted behind the writers, a slice at a time and by whoever comes first, into
 * a row per minute; the last ones are counted when somebody asks. A slice and how far it reaches are one commit, so each
 * attempt is in one slice whoever dies meanwhile.
 *
 * A slice ends where everything that began before is over: an attempt carries the instant its transaction began.
 */
export interface ThroughputBucket {
  readonly start: Date
  readonly sent: number
  readonly failed: number
  readonly retried: number
  readonly uncertain: number
}

const ROLLUP = 'throughput'
/**
 * A few milliseconds of work. A whole minute of a busy system took a tenth of a second of one processor, which was seen in
 * when emails went out.
 */
const SLICE = 5_000
/** Nobody asks for more than 7 days. */
const KEPT = `interval '8 days'`

/** Put off once too often: the email has failed with that attempt, in the same instant. */
const EXHAUSTED = `action.state = 'failed' and action.state_at = attempts.at`

const COUNTS = `
  count(*) filter (where outcome = 'accepted')::int as sent,
  count(*) filter (where outcome = 'rejected' or outcome = 'deferred' and ${EXHAUSTED})::int as failed,
  count(*) filter (where outcome = 'deferred' and not (${EXHAUSTED}))::int as retried,
  count(*) filter (where outcome = 'uncertain')::int as uncertain`

/** Returns whether there is more to count. */
export async function rollUpThroughput(db: Database, slice = SLICE): Promise<boolean> {
  // Before the transaction: what is over by then, it sees.
  const { horizon } = await readHorizon(db)
  // A statement of its own: a process that froze with this row inserted and not committed would keep everybody else here,
  // even from stopping.
  await db.query(
    `insert into postrider.rollups (name, done_until)
     select $1, date_trunc('minute', greatest(coalesce(min(at), ${db.now}), ${db.now} - ${KEPT})) from postrider.attempts
     on conflict do nothing`,
    [ROLLUP],
  )
  return db.transaction(async (tx) => {
    const marks = await tx.query<{ from: Date }>(
      `select done_until as "from" from postrider.rollups where name = $1 and done_until < $2
       for update skip locked`,
      [ROLLUP, horizon],
    )
    const [mark] = marks.rows
    if (!mark) return false
    const to = await findSliceEnd(tx, mark.from, horizon, slice)
    if (!to) return false
    await tx.query(
      `insert into postrider.throughput_minutes as known (workspace_id, minute, sent, failed, retried, uncertain)
       select action.workspace_id, date_trunc('minute', attempts.at), ${COUNTS}
       from postrider.attempts join postrider.scheduled_actions action on action.id = attempts.action_id
       where attempts.at >= $1 and attempts.at < $2 group by 1, 2
       on conflict (workspace_id, minute) do update set sent = known.sent + excluded.sent,
         failed = known.failed + excluded.failed, retried = known.retried + excluded.retried,
         uncertain = known.uncertain + excluded.uncertain`,
      [mark.from, to],
    )
    await tx.query(`update postrider.rollups set done_until = $2 where name = $1`, [ROLLUP, to])
    await tx.query(`delete from postrider.throughput_minutes where minute < ${tx.now} - ${KEPT}`)
    return to < horizon
  })
}

/**
 * In whole milliseconds, as marks are: processes know no finer ones. What was settled together has one instant, and goes
 * into one slice however much it is. Null when there is nothing to count, and so nothing to write.
 */
async function findSliceEnd(tx: Sql, from: Date, horizon: Date, slice: number): Promise<Date | null> {
  const { rows } = await tx.query<{ first: Date | null; next: Date | null }>(
    `with uncounted as (select at from postrider.attempts where at >= $1 and at < $2)
     select (select at from uncounted order by at limit 1) as first,
       (select greatest(date_trunc('milliseconds', at), $1::timestamptz + interval '1 millisecond')
        from uncounted order by at offset $3 limit 1) as next`,
    [from, horizon, slice],
  )
  const { first, next } = rows[0]!
  return first && (next ?? horizon)
}

/**
 * `count` buckets of equal length, the last of which is under way.
 *
 * From when on attempts are counted one by one is asked first and told as a value: of an instant it cannot see, the
 * planner believes that a third of all attempts are later, and reads them all.
 */
export async function readThroughput(
  sql: Sql,
  workspaceId: string,
  { count, seconds }: { readonly count: number; readonly seconds: number },
): Promise<ThroughputBucket[]> {
  const clock = await sql.query<{ first: Date; counted: Date }>(
    `select first, greatest(first, (select done_until from postrider.rollups where name = $3)) as counted
     from (select to_timestamp(floor(extract(epoch from ${sql.now}) / $2) * $2) - ($1 - 1) * $2 * interval '1 second'
       as first) clock`,
    [count, seconds, ROLLUP],
  )
  const { first, counted } = clock.rows[0]!
  const { rows } = await sql.query<ThroughputBucket>(
    `with minutes as (
       select minute as at, sent, failed, retried, uncertain from postrider.throughput_minutes
       where workspace_id = $1 and minute >= $4 and minute < $5
       union all
       select date_trunc('minute', attempts.at), ${COUNTS}
       from postrider.attempts join postrider.scheduled_actions action on action.id = attempts.action_id
       where attempts.at >= $5 and action.workspace_id = $1 group by 1
     ), buckets as materialized (
       select floor(extract(epoch from at - $4::timestamptz) / $3)::int as i, sum(sent) as sent, sum(failed) as failed,
         sum(retried) as retried, sum(uncertain) as uncertain
       from minutes group by 1
     )
     select $4::timestamptz + i * $3 * interval '1 second' as start, coalesce(sent, 0)::int as sent,
       coalesce(failed, 0)::int as failed, coalesce(retried, 0)::int as retried, coalesce(uncertain, 0)::int as uncertain
     from generate_series(0, $2::int - 1) i left join buckets using (i) order by i`,
    [workspaceId, count, seconds, first, counted],
  )
  return rows
}
