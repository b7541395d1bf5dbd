import { DEFAULT_LANE } from '../domain/lane.js'
import { hintActions } from './hint-actions.js'
import { isLaneHeld } from './lanes.js'

/**
 * The steps of a statement that takes actions it has named and locked, `named (id, lane_id, run_at)`, instead of hints:
 * they leave `taken` and `shares`, as `take-hints` does, of the lanes that are open. What stands in a lane that is held
 * gets a hint, where everybody passes over it until the lane opens.
 */
export const takeNamed = (now: string): string => `
  visited as materialized (
    select lane.lane_id, lanes.canceled_at is not null as canceled,
      coalesce(lanes.priority, ${DEFAULT_LANE.priority}) as priority,
      lanes.canceled_at is null and ${isLaneHeld(now)} as held
    from (select distinct lane_id from named) lane left join postrider.lanes on lanes.id = lane.lane_id
  ), shares as materialized (
    select lane_id, canceled, priority from visited where not held
  ), taken as materialized (
    select array_agg(id) as ids from named where lane_id = any (array(select lane_id from shares)) having count(*) > 0
  ), held as materialized (
    select lane_id, run_at, id from named where lane_id = any (array(select lane_id from visited where held))
  ), kept as (${hintActions('select lane_id, run_at, id from held')}
  )`
