import type { Json, LeasedAction } from '../domain/action.js'
import { DEFAULT_LANE } from '../domain/lane.js'
import type { Sql } from './client.js'

/**
 * Takes a fair batch of what is due, under one new lease.
 *
 * It walks round the lanes that have hints, beginning after the lane where the last claim ended, and gives each its
 * part of the batch by weight, at least one, lower priorities first. So a lane with half a million hints delays a lane
 * with one by no more than this round, and two backlogged lanes of one weight get the same number. Finding the next
 * lane is one index probe; nothing is counted, sorted or locked that is not taken.
 *
 * Hints are taken with `for update skip locked` inside a MATERIALIZED step: without it the planner may run the
 * selection more than once and take more than was asked for. The action itself is then asked: only one that is pending
 * and due is leased; one whose lane was canceled or whose time is over gets that state instead, and a stale hint is
 * simply gone. `id = any (array(…))` rather than a join, because with a join the planner, told that almost nothing is
 * pending, once chose to read the whole table for every batch.
 *
 * A crash before the commit leaves everything as it was. After it the lease exists, and when it runs out the rescuer
 * brings the actions back.
 */
export interface Claim {
  readonly actions: readonly LeasedAction[]
  /** Hints that were looked at. 0 means nothing is due in an open lane. */
  readonly looked: number
  /** Actions that turned out to be over instead of being leased. */
  readonly canceled: number
  readonly expired: number
  /** Where the next claim should begin. */
  readonly cursor: string
}

export interface ClaimRequest {
  readonly token: string
  readonly worker: string
  readonly limit: number
  readonly leaseMs: number
  readonly cursor: string
}

/** Before every lane. */
export const FIRST_LANE = '00000000-0000-0000-0000-000000000000'

// Downwards, and each lane from its end: what was claimed leaves dead entries at a lane's beginning until vacuum
// comes, and a probe from that side would step over all of them.
const nextLane = (after: string) => `coalesce(
      (select lane_id from postrider.ready_actions where lane_id < ${after}
       order by lane_id desc, run_at desc, action_id desc limit 1),
      (select lane_id from postrider.ready_actions order by lane_id desc, run_at desc, action_id desc limit 1))`

const claim = (now: string) => `
  with recursive visited (lane_id, turn, first_lane) as (
    select lane_id, 1, lane_id from (select ${nextLane('$5::uuid')} as lane_id) start where lane_id is not null
    union all
    select next.lane_id, turn + 1, first_lane
    from visited cross join lateral (select ${nextLane('visited.lane_id')} as lane_id) next
    where turn < $1::int and next.lane_id <> first_lane
  ), shares as materialized (
    select visited.lane_id,
      greatest(1, floor($1::int * coalesce(weight, ${DEFAULT_LANE.weight})::numeric
        / sum(coalesce(weight, ${DEFAULT_LANE.weight})) over ()))::int as share
    from visited left join postrider.lanes on lanes.id = visited.lane_id
    where paused_at is null or canceled_at is not null
    order by coalesce(priority, ${DEFAULT_LANE.priority}), turn
  ), taken as materialized (
    select hint.place, hint.action_id
    from shares cross join lateral (
      select ctid as place, action_id from postrider.ready_actions
      where lane_id = shares.lane_id order by run_at, action_id limit shares.share
      for update skip locked
    ) hint
    limit $1::int
  ), removed as (
    delete from postrider.ready_actions where ctid = any (array(select place from taken))
  ), claimed as (
    update postrider.scheduled_actions action set (state, lease_token, reason_code, state_at) = (
      select fate, case fate when 'leased' then $2::uuid end,
        case fate when 'canceled' then 'lane_canceled' when 'expired' then 'expired' else reason_code end, ${now}
      from (select case
        when exists (select 1 from postrider.lanes where id = action.lane_id and canceled_at is not null) then 'canceled'
        when action.expires_at <= ${now} then 'expired'
        else 'leased' end as fate) decided)
    where id = any (array(select action_id from taken)) and state = 'pending' and run_at <= ${now}
    returning id, workspace_id, lane_id, type, dedupe_key, state, attempts, payload, retry_policy, enrollment_id,
      node_id, run_at
  ), leased as (
    insert into postrider.leases (token, worker, leased_at, expires_at, action_ids)
    select $2, $3, ${now}, ${now} + $4::float8 * interval '1 millisecond', array_agg(id)
    from claimed where state = 'leased' having count(*) > 0
  )
  select (select count(*)::int from taken) as looked,
    (select lane_id from visited order by turn desc limit 1) as cursor,
    claimed.id, claimed.workspace_id, claimed.lane_id, type, dedupe_key, state, attempts, payload, retry_policy,
    enrollment_id, node_id, (extract(epoch from ${now} - run_at) * 1000)::float8 as lag_ms,
    coalesce(lanes.priority, ${DEFAULT_LANE.priority}) as priority
  from (select) always
    left join claimed on true
    left join postrider.lanes on lanes.id = claimed.lane_id`

interface ClaimRow {
  looked: number
  cursor: string | null
  id: string | null
  workspace_id: string
  lane_id: string
  type: string
  dedupe_key: string
  state: 'leased' | 'canceled' | 'expired'
  attempts: number
  payload: Json
  retry_policy: string | null
  enrollment_id: string | null
  node_id: string | null
  lag_ms: number
  priority: number
}

export async function claimActions(sql: Sql, request: ClaimRequest): Promise<Claim> {
  const { token, worker, limit, leaseMs, cursor } = request
  const { rows } = await sql.query<ClaimRow>(claim(sql.now), [limit, token, worker, leaseMs, cursor])
  const found = rows.filter(({ id }) => id !== null)
  return {
    actions: found.filter(({ state }) => state === 'leased').map((row) => toLeased(row, token)),
    looked: rows[0]!.looked,
    canceled: found.filter(({ state }) => state === 'canceled').length,
    expired: found.filter(({ state }) => state === 'expired').length,
    cursor: rows[0]!.cursor ?? cursor,
  }
}

const toLeased = (row: ClaimRow, leaseToken: string): LeasedAction => ({
  id: row.id!,
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
