/**
 * Names actions in as few hints as possible: those of one lane together, up to HINT_SIZE, in the order they are due.
 * `source` is a step that yields `lane_id, run_at, id`; this becomes a step of the same statement, so that rows and
 * hints are committed together or not at all.
 */
const HINT_SIZE = 100

export const hintActions = (source: string): string => `
    insert into postrider.ready_actions (lane_id, run_at, action_ids)
    select lane_id, min(run_at), array_agg(id order by run_at, id)
    from (
      select lane_id, run_at, id, (row_number() over (partition by lane_id order by run_at, id) - 1) / ${HINT_SIZE} as hint
      from (${source}) due
    ) paged
    group by lane_id, hint`
