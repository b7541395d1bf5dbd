import type { Action, Json } from '../domain/action.js'
import type { ActionState } from '../domain/states.js'
import { PostriderError } from '../errors.js'
import { isId } from '../id.js'
import type { Sql } from './client.js'
import { DUE_HINTS } from './due-hints.js'

interface ActionRow {
  id: string
  workspace_id: string
  lane_id: string
  type: string
  dedupe_key: string
  state: ActionState
  run_at: Date
  expires_at: Date | null
  attempts: number
  rescues: number
  payload: Json
  retry_policy: string | null
  enrollment_id: string | null
  node_id: string | null
  reason: string | null
  reason_code: string | null
  created_at: Date
  state_at: Date
}

const COLUMNS = `id, workspace_id, lane_id, type, dedupe_key, state, run_at, expires_at, attempts, rescues, payload,
  retry_policy, enrollment_id, node_id, reason, reason_code, created_at, state_at`

const toAction = (row: ActionRow): Action => ({
  id: row.id,
  workspaceId: row.workspace_id,
  laneId: row.lane_id,
  type: row.type,
  dedupeKey: row.dedupe_key,
  state: row.state,
  runAt: row.run_at,
  expiresAt: row.expires_at,
  attempts: row.attempts,
  rescues: row.rescues,
  payload: row.payload,
  retryPolicy: row.retry_policy,
  enrollmentId: row.enrollment_id,
  nodeId: row.node_id,
  reason: row.reason,
  reasonCode: row.reason_code,
  createdAt: row.created_at,
  stateAt: row.state_at,
})

export async function findAction(sql: Sql, workspaceId: string, id: string): Promise<Action | null> {
  if (!isId(id)) return null
  const { rows } = await sql.query<ActionRow>(
    `select ${COLUMNS} from postrider.scheduled_actions where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  )
  return rows[0] ? toAction(rows[0]) : null
}

/** A person chose to try again: everything starts over, and the old error is cleared. */
export const retryAction = (sql: Sql, workspaceId: string, id: string): Promise<Action> =>
  decide(sql, workspaceId, id, ['failed'], 'retry', startOver(sql.now))

/** A person has seen the failure and wants no more of it. */
export const dismissAction = (sql: Sql, workspaceId: string, id: string): Promise<Action> =>
  decide(sql, workspaceId, id, ['failed'], 'dismiss', `state = 'dismissed', needs_attention = false`)

/** A person, or a policy the sender chose, settles what nobody can know: it went out, or it is sent again. */
export const resolveAction = (sql: Sql, workspaceId: string, id: string, outcome: 'done' | 'again'): Promise<Action> =>
  decide(
    sql,
    workspaceId,
    id,
    ['uncertain'],
    'resolve',
    outcome === 'done'
      ? `state = 'done', needs_attention = false, lease_token = null, reason_code = 'resolved'`
      : `${startOver(sql.now)}, in_doubt = true`,
  )

const startOver = (now: string) =>
  `state = 'pending', needs_attention = false, lease_token = null, attempts = 0, run_at = ${now}, wake_at = ${now},
   reason = null, reason_code = null`

async function decide(
  sql: Sql,
  workspaceId: string,
  id: string,
  from: readonly ActionState[],
  verb: string,
  set: string,
): Promise<Action> {
  if (!isId(id)) throw notFound(id)
  const { rows } = await sql.query<ActionRow>(
    `update postrider.scheduled_actions set ${set}, state_at = ${sql.now}
     where workspace_id = $1 and id = $2 and state = any ($3::text[]) returning ${COLUMNS}`,
    [workspaceId, id, from],
  )
  if (rows[0]) return toAction(rows[0])
  const action = await findAction(sql, workspaceId, id)
  if (!action) throw notFound(id)
  throw new PostriderError(
    'action_conflict',
    `Action ${id} is ${action.state}; only ${from.join(' or ')} actions can be changed by ${verb}.`,
  )
}

const notFound = (id: string) => new PostriderError('action_not_found', `There is no action ${JSON.stringify(id)}.`)

export interface Backlog {
  /** What is due and not claimed, in open lanes or not. */
  readonly due: number
  readonly oldestDueMs: number | null
  readonly leases: number
  readonly attention: number
}

/** What an operator asks first. Costs what is due and what needs attention, not the size of the history. */
export async function readBacklog(sql: Sql): Promise<Backlog> {
  const { rows } = await sql.query<{ due: number; oldest: number | null; leases: number; attention: number }>(
    `select (select coalesce(sum(cardinality(action_ids)), 0)::int from ${DUE_HINTS} hint where run_at <= ${sql.now}) as due,
       (select (extract(epoch from ${sql.now} - min(run_at)) * 1000)::float8 from ${DUE_HINTS} hint) as oldest,
       (select count(*)::int from postrider.leases) as leases,
       (select count(*)::int from postrider.scheduled_actions where needs_attention) as attention`,
  )
  const { due, oldest, leases, attention } = rows[0]!
  return { due, oldestDueMs: oldest, leases, attention }
}
