import type { NewAction } from '../domain/action.js'
import { PostriderError } from '../errors.js'
import { isId, newId } from '../id.js'
import type { Sql } from './client.js'
import { hintActions } from './hint-actions.js'

/**
 * Schedules any number of actions with one statement.
 *
 * The unique key decides, not a look-up before it: of two callers with the same key one inserts, the other finds the
 * row the first made. What is due now gets its hint in the same statement, so a committed action always has one and a
 * rolled back one never does. Nothing but the new rows is locked: this may run in a caller's own transaction.
 *
 * Rows are inserted in the order of their keys, so that two callers with overlapping keys wait for each other in one
 * direction only and cannot deadlock.
 */
export interface ScheduledAction {
  readonly id: string
  readonly dedupeKey: string
  /** The key was already taken: this is the action that has it, and nothing was written. */
  readonly duplicate: boolean
}

export interface ScheduleResult {
  /** In the order they were asked for. */
  readonly actions: readonly ScheduledAction[]
  readonly scheduled: number
  readonly duplicates: number
}

const insert = (now: string) => `
  with wanted as (
    select id, lane, type, key, coalesce(run_at, ${now}) as run_at, expires_at, payload, retry, enrollment, node
    from json_to_recordset($2::json) as row (
      id uuid, lane uuid, type text, key text, run_at timestamptz, expires_at timestamptz, payload jsonb, retry text,
      enrollment uuid, node text)
  ), inserted as (
    insert into postrider.scheduled_actions (
      id, workspace_id, lane_id, type, dedupe_key, run_at, wake_at, expires_at, payload, retry_policy, enrollment_id,
      node_id, created_at, state_at)
    select id, $1, lane, type, key, run_at, case when run_at > ${now} then run_at end, expires_at,
      coalesce(payload, '{}'), retry, enrollment, node, ${now}, ${now}
    from wanted order by key
    on conflict (workspace_id, dedupe_key) do nothing
    returning id, lane_id, run_at, wake_at
  ), hinted as (${hintActions('select lane_id, run_at, id from inserted where wake_at is null')}
  )
  select id from inserted`

const findByKeys = `
  select id, dedupe_key from postrider.scheduled_actions where workspace_id = $1 and dedupe_key = any($2::text[])`

export async function scheduleActions(
  sql: Sql,
  workspaceId: string,
  actions: readonly NewAction[],
): Promise<ScheduleResult> {
  if (actions.length === 0) return { actions: [], scheduled: 0, duplicates: 0 }
  actions.forEach(refuseInvalid)
  const ids = actions.map(() => newId())
  const { rows } = await sql
    .query<{ id: string }>(insert(sql.now), [
      workspaceId,
      JSON.stringify(actions.map((action, i) => row(ids[i]!, action))),
    ])
    .catch(explainRefusedInput)
  if (rows.length === actions.length)
    return {
      actions: actions.map(({ dedupeKey }, i) => ({ id: ids[i]!, dedupeKey, duplicate: false })),
      scheduled: rows.length,
      duplicates: 0,
    }

  const inserted = new Set(rows.map(({ id }) => id))
  const taken = actions.filter((_, i) => !inserted.has(ids[i]!)).map(({ dedupeKey }) => dedupeKey)
  // A statement of its own, because the row that won may have been committed after the insert's snapshot was taken.
  const existing = await sql.query<{ id: string; dedupe_key: string }>(findByKeys, [workspaceId, taken])
  const idByKey = new Map(existing.rows.map(({ id, dedupe_key }) => [dedupe_key, id]))
  return {
    actions: actions.map(({ dedupeKey }, i) => {
      const id = ids[i]!
      return inserted.has(id)
        ? { id, dedupeKey, duplicate: false }
        : { id: idByKey.get(dedupeKey) ?? gone(dedupeKey), dedupeKey, duplicate: true }
    }),
    scheduled: rows.length,
    duplicates: actions.length - rows.length,
  }
}

const row = (id: string, action: NewAction) => ({
  id,
  lane: action.laneId,
  type: action.type,
  key: action.dedupeKey,
  run_at: action.runAt,
  expires_at: action.expiresAt,
  payload: action.payload,
  retry: action.retryPolicy,
  enrollment: action.enrollmentId,
  node: action.nodeId,
})

function refuseInvalid(action: NewAction): void {
  const refuse = (why: string): never => {
    throw new PostriderError('action_invalid', `Action ${JSON.stringify(action.dedupeKey ?? null)}: ${why}.`)
  }
  if (!action.type) refuse('type must not be empty')
  if (!action.dedupeKey || action.dedupeKey.length > 512) refuse('dedupeKey must have 1 to 512 characters')
  for (const name of ['type', 'dedupeKey', 'retryPolicy', 'nodeId'] as const)
    if (!isStorable(action[name] ?? '')) refuse(`${name} must not contain a NUL character or half a surrogate pair`)
  if (!isId(action.laneId)) refuse('laneId must be a UUID')
  if (action.enrollmentId !== undefined && !isId(action.enrollmentId)) refuse('enrollmentId must be a UUID')
  if (action.nodeId !== undefined && action.enrollmentId === undefined) refuse('nodeId needs an enrollmentId')
  for (const name of ['runAt', 'expiresAt'] as const)
    if (action[name] && !isStorableDate(action[name])) refuse(`${name} must be a valid date in the years 1 to 9999`)
}

// Outside of these years JSON writes a date in a form PostgreSQL does not read.
const isStorableDate = (date: Date) =>
  !Number.isNaN(date.getTime()) && date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9_999

const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed()

// jsonb cannot hold these, and everything else that becomes JSON was checked before. The database says so about the
// whole batch; we say it in the words of the caller.
function explainRefusedInput(error: unknown): never {
  const { code, message } = error as { code?: unknown; message: string }
  if (code === '22P05' || (code === '22P02' && message.endsWith('type json')))
    throw new PostriderError(
      'action_invalid',
      'A payload contains a NUL character (\\u0000) or half a surrogate pair, which JSON in PostgreSQL cannot hold.',
      { cause: error },
    )
  throw error
}

// The row that had the key was pruned between the two statements: its story is over, and so is this one.
function gone(dedupeKey: string): never {
  throw new PostriderError(
    'action_conflict',
    `The action with key ${JSON.stringify(dedupeKey)} was removed while it was looked up. Schedule it again.`,
  )
}
