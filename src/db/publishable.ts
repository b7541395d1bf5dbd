import { DEFAULT_LANE } from '../domain/lane.js'

/** An action as a relay needs it to tell a broker of it. */
export interface Publishable {
  readonly id: string
  readonly workspaceId: string
  readonly dedupeKey: string
  readonly type: string
  /** Of its lane: lower goes first. */
  readonly priority: number
  /** Which publication of this action it is. */
  readonly position: string
  /** How long until it is due; 0 when it is. */
  readonly delayMs: number
}

/** Reads the actions of a step `published (action_id, position, run_at)`. */
export const readPublishable = (now: string, published: string): string => `
  select action.id, action.workspace_id as "workspaceId", dedupe_key as "dedupeKey", type,
    coalesce(lanes.priority, ${DEFAULT_LANE.priority}) as priority, ${published}.position::text as position,
    greatest(0, extract(epoch from ${published}.run_at - ${now}) * 1000)::float8 as "delayMs"
  from ${published} join postrider.scheduled_actions action on action.id = ${published}.action_id
    left join postrider.lanes on lanes.id = action.lane_id
  order by ${published}.run_at, ${published}.position`
