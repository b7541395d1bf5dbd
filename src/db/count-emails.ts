import type { Sql } from './client.js'
import { DUE_HINTS } from './due-hints.js'
import { isLaneHeld } from './lanes.js'

/**
 * How much is where, for people. Costs what is due, held or failed, never the size of the history, and is bounded: past
 * a limit a figure is no longer counted one by one, and says so.
 */
export interface EmailCounts {
  readonly pending: number
  readonly sending: number
  readonly dueNow: number
  /** How long the oldest of what is due has been so. */
  readonly oldestDueSeconds: number | null
  /** The same without what a pause or a slowed sender holds back: what workers should have taken. */
  readonly takeable: number
  readonly oldestTakeableSeconds: number | null
  /** Whether anybody holds anything at the moment, be it of another workspace. */
  readonly workersHold: boolean
  /** Which of the figures were not counted one by one. */
  readonly rough: readonly ('pending' | 'dueNow')[]
  readonly now: Date
  /** The database's own clock, whatever the time is taken to be. */
  readonly clock: Date
}

/** Up to so many that are due are looked at themselves; beyond that their hints are counted, which may name some twice. */
const EXACT_DUE = 5_000
const EXACT_WAITING = 50_000
const LATE_SAMPLE = 500

const count = (now: string) => `
  with hints as materialized (
    select lane_id, run_at, action_ids from ${DUE_HINTS} hint where run_at <= ${now}
  ), own as materialized (
    -- A lane belongs to one workspace, and any of its actions says to which.
    select lane_id, named from (
      select lane_id, sum(cardinality(action_ids))::int as named, (array_agg(action_ids[1]))[1] as example
      from hints group by lane_id) lane
    where exists (select 1 from postrider.scheduled_actions where id = example and workspace_id = $1)
  ), size as materialized (select coalesce(sum(named), 0)::int as named from own
  ), due as materialized (
    select lane_id, run_at, 1 as emails from postrider.scheduled_actions
    where id = any (array(
        select unnest(action_ids) from hints where (select named from size) <= ${EXACT_DUE} and lane_id in (select lane_id from own)))
      and workspace_id = $1 and type = 'send' and state = 'pending' and wake_at is null
    union all
    select lane_id, run_at, cardinality(action_ids) from hints
    where (select named from size) > ${EXACT_DUE} and lane_id in (select lane_id from own)
  ), late as materialized (
    -- Nobody has made hints of these yet, which takes a worker no more than a moment. Of very many, the first say whose
    -- they are: asked for all of them, the planner reads everything that waits.
    select workspace_id, type, lane_id, run_at from postrider.scheduled_actions
    where wake_at <= ${now} order by wake_at limit ${LATE_SAMPLE}
  ), late_size as materialized (
    select count(*)::float8 as actions from (
      select from postrider.scheduled_actions where wake_at <= ${now} limit ${EXACT_WAITING}) late_ones
  ), overdue as materialized (
    select lane_id, run_at, greatest(1, (select actions from late_size) / (select count(*) from late)) as emails
    from late where workspace_id = $1 and type = 'send'
  ), by_lane as materialized (
    select lane_id, sum(emails) as emails, min(run_at) as run_at
    from (select * from due union all select * from overdue) emails group by lane_id
  ), known as materialized (
    select emails, run_at, ${isLaneHeld(now)} as held
    from by_lane left join postrider.lanes on lanes.id = by_lane.lane_id
  ), waiting as materialized (
    select count(*)::int as emails from (
      select from postrider.scheduled_actions
      where workspace_id = $1 and wake_at is not null and message_id is not null limit ${EXACT_WAITING + 1}) first
  )
  select (select coalesce(sum(emails), 0)::int from due) + (select emails from waiting) as pending,
    (select count(*)::int from postrider.scheduled_actions
     where id = any (array(select unnest(action_ids) from postrider.leases))
       and workspace_id = $1 and type = 'send' and state in ('leased', 'armed')) as sending,
    round(coalesce(sum(emails), 0))::int as "dueNow",
    extract(epoch from ${now} - min(run_at))::float8 as "oldestDueSeconds",
    round(coalesce(sum(emails) filter (where not held), 0))::int as takeable,
    extract(epoch from ${now} - min(run_at) filter (where not held))::float8 as "oldestTakeableSeconds",
    exists (select 1 from postrider.leases) as "workersHold",
    (select named from size) > ${EXACT_DUE} or (select actions from late_size) > ${LATE_SAMPLE} as "dueIsRough",
    (select emails from waiting) > ${EXACT_WAITING} as "waitingIsRough",
    ${now} as now, clock_timestamp() as clock
  from known`

type Row = Omit<EmailCounts, 'rough'> & { dueIsRough: boolean; waitingIsRough: boolean }

export async function countEmails(sql: Sql, workspaceId: string): Promise<EmailCounts> {
  const { rows } = await sql.query<Row>(count(sql.now), [workspaceId])
  const { dueIsRough, waitingIsRough, ...counts } = rows[0]!
  const rough = [
    ...(dueIsRough || waitingIsRough ? (['pending'] as const) : []),
    ...(dueIsRough ? (['dueNow'] as const) : []),
  ]
  return { ...counts, rough }
}
