import { DEFAULT_LANE, type LaneSettings } from '../domain/lane.js'
import { PostriderError } from '../errors.js'
import { isId } from '../id.js'
import type { Sql } from './client.js'

/**
 * Pausing, resuming and cancelling a lane is one row, however many actions it has: claiming passes over it, and arming
 * and completing ask it again.
 */
export interface LaneState {
  readonly paused: boolean
  readonly canceled: boolean
}

const isHeld = (lane: string, now: string) => `${lane}.paused_at is not null or ${lane}.held_until > ${now}`

/**
 * Whether nothing of the lane may be begun at the moment: a person paused it, or a server asked its sender to slow down,
 * or one of the two is true of the lane it is held with. False, and never null, for a lane without a row.
 */
export const isLaneHeld = (now: string): string => `coalesce(${isHeld('lanes', now)} or exists (
      select 1 from postrider.lanes holder where holder.id = lanes.held_with and (${isHeld('holder', now)})), false)`

/** Whether a lane is held; asked for senders whose emails are in other lanes. */
export async function findHold(sql: Sql, laneId: string): Promise<boolean> {
  const { rows } = await sql.query<{ held: boolean }>(
    `select ${isLaneHeld(sql.now)} as held from postrider.lanes where id = $1`,
    [laneId],
  )
  return rows[0]?.held ?? false
}

const upsert = async (sql: Sql, workspaceId: string, laneId: string, set: string): Promise<LaneState> => {
  if (!isId(laneId)) throw new PostriderError('lane_invalid', `A lane's id must be a UUID: ${JSON.stringify(laneId)}.`)
  await sql.query(
    `insert into postrider.lanes (id, workspace_id, weight, priority) values ($2, $1, $3, $4) on conflict (id) do nothing`,
    [workspaceId, laneId, DEFAULT_LANE.weight, DEFAULT_LANE.priority],
  )
  const { rows } = await sql.query<LaneState>(
    `update postrider.lanes set ${set} where id = $2 and workspace_id = $1
     returning paused_at is not null as paused, canceled_at is not null as canceled`,
    [workspaceId, laneId],
  )
  // The id exists and belongs to another workspace: to this one it does not exist.
  if (!rows[0]) throw new PostriderError('lane_not_found', `There is no lane ${laneId}.`)
  return rows[0]
}

export const pauseLane = (sql: Sql, workspaceId: string, laneId: string): Promise<LaneState> =>
  upsert(sql, workspaceId, laneId, `paused_at = coalesce(paused_at, ${sql.now})`)

export const resumeLane = (sql: Sql, workspaceId: string, laneId: string): Promise<LaneState> =>
  upsert(sql, workspaceId, laneId, 'paused_at = null, held_until = null')

/** For good: what is still waiting in the lane ends as `canceled`, at once for the engine, row by row in the sweep. */
export const cancelLane = (sql: Sql, workspaceId: string, laneId: string): Promise<LaneState> =>
  upsert(sql, workspaceId, laneId, `canceled_at = coalesce(canceled_at, ${sql.now})`)

/** Holds the lane back for a while; it opens again by itself. A longer hold that is already there stays. */
export async function holdLane(sql: Sql, workspaceId: string, laneId: string, forMs: number): Promise<void> {
  await upsert(
    sql,
    workspaceId,
    laneId,
    `held_until = greatest(held_until, ${sql.now} + ${forMs} * interval '1 millisecond')`,
  )
}

/** From now on whatever holds `holderId` holds this lane too. */
export async function holdLaneWith(sql: Sql, workspaceId: string, laneId: string, holderId: string): Promise<void> {
  if (!isId(holderId))
    throw new PostriderError('lane_invalid', `A lane's id must be a UUID: ${JSON.stringify(holderId)}.`)
  await upsert(sql, workspaceId, laneId, `held_with = '${holderId}'`)
}

export async function configureLane(
  sql: Sql,
  workspaceId: string,
  laneId: string,
  { weight, priority }: LaneSettings,
): Promise<void> {
  requireWhole('weight', weight, 1, 1_000)
  requireWhole('priority', priority, 0, 100)
  await upsert(sql, workspaceId, laneId, `weight = ${weight}, priority = ${priority}`)
}

function requireWhole(name: string, value: number, from: number, to: number): void {
  if (!Number.isInteger(value) || value < from || value > to)
    throw new PostriderError('lane_invalid', `A lane's ${name} must be a whole number from ${from} to ${to}: ${value}.`)
}
