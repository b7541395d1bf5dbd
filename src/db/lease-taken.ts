import type { Json, LeasedAction } from '../domain/action.js'
import { takeTurns } from '../domain/lane.js'
import { IN_DOUBT, LANE_CANCELED } from './in-doubt.js'

/**
 * The last steps of a claim: asks the actions that `taken` names, and leases those that may begin under one new lease.
 *
 * Only one that is pending and due is leased; one whose lane was canceled or whose time is over gets that state instead,
 * and a stale hint is simply gone. One that is not due yet goes back to waiting: its hint is being taken away, and
 * without that nobody would ever look at it again. That is no rarity: `now()` is read before the snapshot is taken, so a
 * claim sees hints of actions that were scheduled, and due, a moment after its own "now".
 *
 * `id = any (array(…))` rather than a join, because with a join the planner, told that almost nothing is pending, once
 * chose to read the whole table for every batch.
 *
 * The first three parameters are the lease's token, worker and milliseconds. `more` are fields of the summary besides;
 * `until` is what counts as due, if that is not `now`.
 */

// Everything that was taken is from a lane that was visited, so this short list is all there is to ask.
const decideEnd = (now: string) => `case
        when lane_id = any (array(select lane_id from shares where canceled)) then 'canceled'
        when expires_at <= ${now} then 'expired' end`
// One that may have been taken in an earlier hand-over does not end as if it never was (in-doubt).
const decideFate = (now: string, until: string) => `case
        when ${decideEnd(now)} is not null then case when in_doubt then 'uncertain' else ${decideEnd(now)} end
        when run_at > ${until} then 'pending' else 'leased' end`

export const leaseTaken = (now: string, cursor: string, more = '', until = now): string => `
  claimed as (
    update postrider.scheduled_actions set
      state = ${decideFate(now, until)},
      wake_at = case ${decideFate(now, until)} when 'pending' then run_at end,
      lease_token = case ${decideFate(now, until)} when 'leased' then $1::uuid when 'uncertain' then id end,
      needs_attention = ${decideFate(now, until)} = 'uncertain',
      on_uncertain = case when ${decideFate(now, until)} <> 'uncertain' then on_uncertain end,
      reason = case when in_doubt then case ${decideEnd(now)}
        when 'canceled' then ${LANE_CANCELED.said} || ' ${IN_DOUBT}'
        when 'expired' then 'Its time was over. ${IN_DOUBT}' else reason end else reason end,
      reason_code = case ${decideEnd(now)}
        when 'canceled' then '${LANE_CANCELED.code}' when 'expired' then 'expired' else reason_code end,
      state_at = case ${decideFate(now, until)} when 'pending' then state_at else ${now} end
    where id = any (array(select unnest(ids) from taken)) and state = 'pending'
    returning id, workspace_id, lane_id, type, dedupe_key, state, attempts, payload, retry_policy, enrollment_id,
      node_id, run_at, reason_code
  ), leased as (
    insert into postrider.leases (token, worker, leased_at, expires_at, action_ids)
    select $1, $2, ${now}, ${now} + $3::float8 * interval '1 millisecond', array_agg(id)
    from claimed where state = 'leased' having count(*) > 0
  )
  -- The first row is about the claim as a whole, in the place of a payload.
  select null::uuid as id, null::uuid as workspace_id, null::uuid as lane_id, null as type, null as dedupe_key,
    null::int as attempts, null as retry_policy, null::uuid as enrollment_id, null as node_id, null::float8 as lag_ms,
    null::int as priority, jsonb_build_object(
      'looked', (select coalesce(sum(cardinality(ids)), 0) from taken),
      'cursor', ${cursor},
      'canceled', (select count(*) from claimed where state not in ('leased', 'pending') and reason_code = '${LANE_CANCELED.code}'),
      'expired', (select count(*) from claimed where state not in ('leased', 'pending') and reason_code = 'expired'),
      'early', (select count(*) from claimed where state = 'pending')${more}) as payload
  from relaxed
  union all
  select id, workspace_id, lane_id, type, dedupe_key, attempts, retry_policy, enrollment_id, node_id,
    -- When the answer leaves, and not when the question came: whoever waits for its time counts from the answer.
    (extract(epoch from ${now} - run_at + (clock_timestamp() - now())) * 1000)::float8,
    (array(select priority from shares))[array_position(array(select lane_id from shares), lane_id)], payload
  from claimed where state = 'leased'`

export interface Claim {
  readonly actions: readonly LeasedAction[]
  /** Actions that hints named. 0 means nothing is due in an open lane, or others are taking it right now. */
  readonly looked: number
  /** Actions that turned out to be over instead of being leased. */
  readonly canceled: number
  readonly expired: number
  /** Actions that are due a moment later than this claim's "now", and wait for the promoter. */
  readonly early: number
  /** Where the next claim should begin. */
  readonly cursor: string
}

interface Summary {
  readonly looked: number
  readonly cursor: string | null
  readonly canceled: number
  readonly expired: number
  readonly early: number
}

export interface LeasedRow {
  id: string
  workspace_id: string
  lane_id: string
  type: string
  dedupe_key: string
  attempts: number
  payload: Json
  retry_policy: string | null
  enrollment_id: string | null
  node_id: string | null
  lag_ms: number
  priority: number
}

export function readClaim(rows: readonly LeasedRow[], token: string, cursor: string): Claim {
  const [about, ...leased] = rows
  const summary = about!.payload as unknown as Summary
  return {
    ...summary,
    cursor: summary.cursor ?? cursor,
    // The update returns rows as it meets them.
    actions: takeTurns(leased.map((row) => toLeased(row, token))),
  }
}

const toLeased = (row: LeasedRow, leaseToken: string): LeasedAction => ({
  id: row.id,
  workspaceId: row.workspace_id,
  laneId: row.lane_id,
  type: row.type,
  dedupeKey: row.dedupe_key,
  attempts: row.attempts,
  payload: row.payload,
  retryPolicy: row.retry_policy,
  enrollmentId: row.enrollment_id,
  nodeId: row.node_id,
  lagMs: row.lag_ms,
  priority: row.priority,
  leaseToken,
})
