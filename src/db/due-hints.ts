/**
 * Every hint there is, for those who count: what waits to be claimed, and what a broker was told of (each action of those
 * by itself, and perhaps a little ahead of its time).
 */
export const DUE_HINTS = `(
    select lane_id, run_at, action_ids from postrider.ready_actions
    union all select lane_id, run_at, array[action_id] from postrider.published_hints)`
