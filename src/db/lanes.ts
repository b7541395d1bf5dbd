import { DEFAULT_LANE, type LaneSettings } from '../domain/lane.js'
import type { Sql } from './client.js'

/**
 * Pausing, resuming and cancelling a lane is one row, however many actions it has: claiming passes over it, and arming
 * and completing ask it again.
 */
export interface LaneState {
  readonly paused: boolean
  readonly canceled: boolean
}

interface LaneRow {
  paused: boolean
  canceled: boolean
}

const upsert = async (sql: Sql, workspaceId: string, laneId: string, set: string): Promise<LaneState> => {
  const { rows } = await sql
    .query<LaneRow>(
      `insert into postrider.lanes as lane (id, workspace_id, weight, priority) values ($2, $1, $3, $4)
     on conflict (id) do nothing`,
      [workspaceId, laneId, DEFAULT_LANE.weight, DEFAULT_LANE.priority],
    )
    .then(() =>
      sql.query<LaneRow>(
        `update postrider.lanes set ${set} where id = $2 and workspace_id = $1
       returning paused_at is not null as paused, canceled_at is not null as canceled`,
        [workspaceId, laneId],
      ),
    )
  return rows[0]!
}

export const pauseLane = (sql: Sql, workspaceId: string, laneId: string): Promise<LaneState> =>
  upsert(sql, workspaceId, laneId, `paused_at = coalesce(paused_at, ${sql.now})`)

export const resumeLane = (sql: Sql, workspaceId: string, laneId: string): Promise<LaneState> =>
  upsert(sql, workspaceId, laneId, 'paused_at = null')

/** For good: what is still waiting in the lane ends as `canceled`, at once for the engine, row by row in the sweep. */
export const cancelLane = (sql: Sql, workspaceId: string, laneId: string): Promise<LaneState> =>
  upsert(sql, workspaceId, laneId, `canceled_at = coalesce(canceled_at, ${sql.now})`)

export async function configureLane(
  sql: Sql,
  workspaceId: string,
  laneId: string,
  { weight, priority }: LaneSettings,
): Promise<void> {
  await sql.query(
    `insert into postrider.lanes (id, workspace_id, weight, priority) values ($2, $1, $3, $4)
     on conflict (id) do update set weight = excluded.weight, priority = excluded.priority
     where lanes.workspace_id = excluded.workspace_id`,
    [workspaceId, laneId, weight, priority],
  )
}
