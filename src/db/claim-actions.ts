import type { Json, LeasedAction } from '../domain/action.js'
import { DEFAULT_LANE } from '../domain/lane.js'
import { RELAXED_COMMIT, type Sql } from './client.js'
import { IN_DOUBT, LANE_CANCELED } from './in-doubt.js'
import { isLaneHeld } from './lanes.js'

/**
 * Takes a fair batch of what is due, under one new lease.
 *
 * It walks round the lanes that have hints, beginning after the lane where the last claim ended, and gives each its
 * part of the batch by weight, at least one, lower priorities first. So a lane with half a million actions delays a lane
 * with one by no more than this round, and two backlogged lanes of one weight get the same number. Finding the next
 * lane is one index probe; nothing is counted, sorted or locked that is not taken. A hint that names more than the
 * lane's part is put back with the rest.
 *
 * Hints are taken with `for update skip locked` inside a MATERIALIZED step: without it the planner may run the
 * selection more than once and take more than was asked for. The actions themselves are then asked: only one that is
 * pending and due is leased; one whose lane was canceled or whose time is over gets that state instead, and a stale
 * hint is simply gone. One that is not due yet goes back to waiting: its hint is being taken away, and without that
 * nobody would ever look at it again. That is no rarity: `now()` is read before the snapshot is taken, so a claim sees
 * hints of actions that were scheduled, and due, a moment after its own "now".
 *
 * `id = any (array(…))` rather than a join, because with a join the planner, told that almost nothing is pending, once
 * chose to read the whole table for every batch.
 *
 * A crash before the commit leaves everything as it was. After it the lease exists, and when it runs out the rescuer
 * brings the actions back. The commit does not wait for the disk: if the server crashes and forgets the claim, the
 * actions are pending again, and whoever believes to hold them is refused when it arms.
 */
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

export interface ClaimRequest {
  readonly token: string
  readonly worker: string
  readonly limit: number
  readonly leaseMs: number
  readonly cursor: string
  /** Only lanes of this priority or a lower one; absent: all. */
  readonly mostPriority?: number
}

/** Before every lane. */
export const FIRST_LANE = '00000000-0000-0000-0000-000000000000'
const LAST_PRIORITY = 100

// Downwards, and each lane from its end: what was claimed leaves dead entries at a lane's beginning until vacuum
// comes, and a probe from that side would step over all of them.
const nextLane = (after: string) => `coalesce(
      (select lane_id from postrider.ready_actions where lane_id < ${after}
       order by lane_id desc, run_at desc, position desc limit 1),
      (select lane_id from postrider.ready_actions order by lane_id desc, run_at desc, position desc limit 1))`

// Everything that was taken is from a lane that was visited, so this short list is all there is to ask.
const decideEnd = (now: string) => `case
        when lane_id = any (array(select lane_id from shares where canceled)) then 'canceled'
        when expires_at <= ${now} then 'expired' end`
// One that may have been taken in an earlier hand-over does not end as if it never was (in-doubt).
const decideFate = (now: string) => `case
        when ${decideEnd(now)} is not null then case when in_doubt then 'uncertain' else ${decideEnd(now)} end
        when run_at > ${now} then 'pending' else 'leased' end`

// `offset 0` below keeps the planner from probing again for every place where the next lane is mentioned.
// Only open lanes count as a turn: a claim looks past any number of paused ones.
const PRIORITY = `coalesce(lanes.priority, ${DEFAULT_LANE.priority})`
const isOpen = (now: string) => `(${PRIORITY} <= $6::int and (lanes.canceled_at is not null or not ${isLaneHeld(now)}))`
const lane = (now: string) => `${isOpen(now)}::int, ${isOpen(now)}, lanes.canceled_at is not null, ${PRIORITY},
      coalesce(lanes.weight, ${DEFAULT_LANE.weight})`

const claim = (now: string) => `
  with recursive ${RELAXED_COMMIT}, visited (lane_id, first_lane, turn, is_open, canceled, priority, weight) as (
    select next.lane_id, next.lane_id, ${lane(now)}
    from (select ${nextLane('$5::uuid')} as lane_id offset 0) next left join postrider.lanes on lanes.id = next.lane_id
    where next.lane_id is not null
    union all
    select next.lane_id, first_lane, turn + ${lane(now)}
    from visited cross join lateral (select ${nextLane('visited.lane_id')} as lane_id offset 0) next
      left join postrider.lanes on lanes.id = next.lane_id
    where turn < $1::int and next.lane_id <> first_lane
  ), shares as materialized (
    select lane_id, canceled, priority, share
    from (
      select *, sum(share) over (order by priority, turn) - share as given
      from (
        -- One for each, then the rest by weight: were the one given on top, the last lanes of every round would get none.
        select *, 1 + floor(($1::int - count(*) over ()) * weight::numeric / sum(weight) over ())::int as share
        from visited where is_open
      ) asked
    ) counted
    where given < $1::int
    order by priority, turn
  ), locked as materialized (
    select shares.lane_id, share, hint.*
    from shares cross join lateral (
      -- As many hints as the lane's part needs if all are as large as its first.
      select ctid as place, run_at, position, action_ids from postrider.ready_actions
      where lane_id = shares.lane_id order by run_at, position
      limit (select ceil(shares.share / cardinality(action_ids)::numeric) from postrider.ready_actions
             where lane_id = shares.lane_id order by run_at, position limit 1)
      for update skip locked
    ) hint
  ), taken as materialized (
    select place, lane_id, run_at, action_ids[:share - given] as ids, action_ids[share - given + 1:] as rest
    from (
      select *, sum(cardinality(action_ids)) over (partition by lane_id order by run_at, position)
        - cardinality(action_ids) as given
      from locked
    ) counted
    where given < share
  ), removed as (
    delete from postrider.ready_actions where ctid = any (array(select place from taken))
  ), kept as (
    insert into postrider.ready_actions (lane_id, run_at, action_ids)
    select lane_id, run_at, rest from taken where cardinality(rest) > 0
  ), claimed as (
    update postrider.scheduled_actions set
      state = ${decideFate(now)},
      wake_at = case ${decideFate(now)} when 'pending' then run_at end,
      lease_token = case ${decideFate(now)} when 'leased' then $2::uuid when 'uncertain' then id end,
      needs_attention = ${decideFate(now)} = 'uncertain',
      on_uncertain = case when ${decideFate(now)} <> 'uncertain' then on_uncertain end,
      reason = case when in_doubt then case ${decideEnd(now)}
        when 'canceled' then ${LANE_CANCELED.said} || ' ${IN_DOUBT}'
        when 'expired' then 'Its time was over. ${IN_DOUBT}' else reason end else reason end,
      reason_code = case ${decideEnd(now)}
        when 'canceled' then '${LANE_CANCELED.code}' when 'expired' then 'expired' else reason_code end,
      state_at = case ${decideFate(now)} when 'pending' then state_at else ${now} end
    where id = any (array(select unnest(ids) from taken)) and state = 'pending'
    returning id, workspace_id, lane_id, type, dedupe_key, state, attempts, payload, retry_policy, enrollment_id,
      node_id, run_at, reason_code
  ), leased as (
    insert into postrider.leases (token, worker, leased_at, expires_at, action_ids)
    select $2, $3, ${now}, ${now} + $4::float8 * interval '1 millisecond', array_agg(id)
    from claimed where state = 'leased' having count(*) > 0
  )
  -- The first row is about the claim as a whole, in the place of a payload.
  select null::uuid as id, null::uuid as workspace_id, null::uuid as lane_id, null as type, null as dedupe_key,
    null::int as attempts, null as retry_policy, null::uuid as enrollment_id, null as node_id, null::float8 as lag_ms,
    null::int as priority, jsonb_build_object(
      'looked', (select coalesce(sum(cardinality(ids)), 0) from taken),
      'cursor', (select lane_id from visited order by turn desc, is_open desc limit 1),
      'canceled', (select count(*) from claimed where state not in ('leased', 'pending') and reason_code = '${LANE_CANCELED.code}'),
      'expired', (select count(*) from claimed where state not in ('leased', 'pending') and reason_code = 'expired'),
      'early', (select count(*) from claimed where state = 'pending')) as payload
  from relaxed
  union all
  select id, workspace_id, lane_id, type, dedupe_key, attempts, retry_policy, enrollment_id, node_id,
    (extract(epoch from ${now} - run_at) * 1000)::float8,
    (array(select priority from shares))[array_position(array(select lane_id from shares), lane_id)], payload
  from claimed where state = 'leased'`

interface ClaimSummary {
  readonly looked: number
  readonly cursor: string | null
  readonly canceled: number
  readonly expired: number
  readonly early: number
}

interface ClaimRow {
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

export async function claimActions(sql: Sql, request: ClaimRequest): Promise<Claim> {
  const { token, worker, limit, leaseMs, cursor, mostPriority = LAST_PRIORITY } = request
  const { rows } = await sql.query<ClaimRow>(claim(sql.now), [limit, token, worker, leaseMs, cursor, mostPriority])
  const [about, ...leased] = rows
  const summary = about!.payload as unknown as ClaimSummary
  return {
    ...summary,
    cursor: summary.cursor ?? cursor,
    // The update returns rows as it meets them; whoever waited longest goes first.
    actions: leased.map((row) => toLeased(row, token)).toSorted((a, b) => b.lagMs - a.lagMs),
  }
}

const toLeased = (row: ClaimRow, leaseToken: string): LeasedAction => ({
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
