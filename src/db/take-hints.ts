import { DEFAULT_LANE } from '../domain/lane.js'
import { isLaneHeld } from './lanes.js'

/**
 * The steps of a statement that take hints away, fairly: `claim-actions` leases what they name, `take-for-publishing`
 * hands it to a broker. They leave `taken (lane_id, ids)` and, about every lane they come from,
 * `shares (lane_id, canceled, priority)`. Whoever takes must give every action it does not use another hint.
 *
 * It walks round the lanes that have hints, beginning after the lane where the last one ended, and gives each its part
 * of the batch by weight, at least one, lower priorities first. So a lane with half a million actions delays a lane with
 * one by no more than this round, and two backlogged lanes of one weight get the same number. Finding the next lane is
 * one index probe; nothing is counted, sorted or locked that is not taken. A hint that names more than the lane's part
 * is put back with the rest, in front: behind its neighbours it would leave them hints of many sizes, and a lane would get
 * less than its part, or more, by where it happened to be cut.
 *
 * Hints are taken with `for update skip locked` inside a MATERIALIZED step: without it the planner may run the
 * selection more than once and take more than was asked for.
 */
export interface Taking {
  readonly now: string
  /** SQL expressions: how many, after which lane, from lanes of which priority or a lower one. */
  readonly limit: string
  readonly cursor: string
  readonly mostPriority: string
}

// Downwards, and each lane from its end: what was claimed leaves dead entries at a lane's beginning until vacuum
// comes, and a probe from that side would step over all of them.
const nextLane = (after: string) => `coalesce(
      (select lane_id from postrider.ready_actions where lane_id < ${after}
       order by lane_id desc, run_at desc, position desc limit 1),
      (select lane_id from postrider.ready_actions order by lane_id desc, run_at desc, position desc limit 1))`

// `offset 0` below keeps the planner from probing again for every place where the next lane is mentioned.
// Only open lanes count as a turn: a claim looks past any number of paused ones.
const PRIORITY = `coalesce(lanes.priority, ${DEFAULT_LANE.priority})`
const isOpen = (now: string, mostPriority: string) =>
  `(${PRIORITY} <= ${mostPriority} and (lanes.canceled_at is not null or not ${isLaneHeld(now)}))`
const lane = (isOpen: string) => `${isOpen}::int, ${isOpen}, lanes.canceled_at is not null, ${PRIORITY},
      coalesce(lanes.weight, ${DEFAULT_LANE.weight})`

export const takeHints = ({ now, limit, cursor, mostPriority }: Taking): string => `
  visited (lane_id, first_lane, turn, is_open, canceled, priority, weight) as (
    select next.lane_id, next.lane_id, ${lane(isOpen(now, mostPriority))}
    from (select ${nextLane(cursor)} as lane_id offset 0) next left join postrider.lanes on lanes.id = next.lane_id
    where next.lane_id is not null
    union all
    select next.lane_id, first_lane, turn + ${lane(isOpen(now, mostPriority))}
    from visited cross join lateral (select ${nextLane('visited.lane_id')} as lane_id offset 0) next
      left join postrider.lanes on lanes.id = next.lane_id
    where turn < ${limit} and next.lane_id <> first_lane
  ), shares as materialized (
    select lane_id, canceled, priority, share
    from (
      select *, sum(share) over (order by priority, turn) - share as given
      from (
        -- One for each, then the rest by weight: were the one given on top, the last lanes of every round would get none.
        select *, 1 + floor((${limit} - count(*) over ()) * weight::numeric / sum(weight) over ())::int as share
        from visited where is_open
      ) asked
    ) counted
    where given < ${limit}
    order by priority, turn
  ), locked as materialized (
    select shares.lane_id, share, hint.*
    from shares cross join lateral (
      -- The first may be what was left of one. As many more as the lane's part needs if all are as large as the second.
      select ctid as place, run_at, position, action_ids from postrider.ready_actions
      where lane_id = shares.lane_id order by run_at, position
      limit (select 1 + ceil(greatest(shares.share - sizes[1], 0) / coalesce(sizes[2], 1)::numeric)
             from (select array(select cardinality(action_ids) from postrider.ready_actions
                                where lane_id = shares.lane_id order by run_at, position limit 2) as sizes) first_two)
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
    -- Written anew and never updated: of one that was updated since this statement began, the lock would be on a version
    -- the removal cannot see.
    insert into postrider.ready_actions (lane_id, run_at, action_ids)
    select lane_id, run_at - interval '1 microsecond', rest from taken where cardinality(rest) > 0
  )`

/** Where the next one should begin. */
export const NEXT_CURSOR = `(select lane_id from visited order by turn desc, is_open desc limit 1)`
