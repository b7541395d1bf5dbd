import type { Settlement } from '../domain/action.js'
import { storable } from './storable.js'

/**
 * The step of a settling statement that keeps what was seen. It is not fenced: a worker that lost its lease may not
 * decide anything any more, but what it saw is evidence. Its key is made by the worker, so that a settling that is
 * repeated after a lost answer keeps each attempt once.
 */
export interface Step {
  readonly statement: string
  readonly values: readonly string[]
}

export const NOTHING: Step = { statement: '', values: [] }

export function recordAttempts(now: string, settlements: readonly Settlement[], parameter: number): Step {
  const rows = settlements.flatMap(({ id, outcome: { attempt } }) =>
    attempt
      ? [
          {
            action_id: id,
            id: attempt.id,
            outcome: attempt.outcome,
            failure: attempt.failure,
            phase: attempt.phase,
            code: attempt.code,
            enhanced_code: attempt.enhancedCode,
            reply: storable(attempt.reply),
            remote_host: attempt.remoteHost,
            duration_ms: Math.round(attempt.durationMs),
            worker: attempt.worker,
            inline: attempt.inline,
          },
        ]
      : [],
  )
  if (rows.length === 0) return NOTHING
  const columns = `action_id, id, outcome, failure, phase, code, enhanced_code, reply, remote_host, duration_ms, worker, inline`
  return {
    statement: `attempted as (
    insert into postrider.attempts (${columns}, at)
    select ${columns}, ${now} from json_to_recordset($${parameter}::json) as row (
      action_id uuid, id uuid, outcome text, failure text, phase text, code int, enhanced_code text, reply text,
      remote_host text, duration_ms int, worker text, inline boolean)
    on conflict do nothing)`,
    values: [JSON.stringify(rows)],
  }
}

/**
 * The step that suppresses the addresses whose servers do not know them: of the emails that the statement has really
 * written. A worker that lost its lease suppresses nothing: its email is tried again, and would be skipped for the
 * suppression instead of failing with what the server said.
 */
export function suppressRefused(now: string, settlements: readonly Settlement[], parameter: number): Step {
  const rows = settlements.flatMap(({ id, outcome: { suppress } }) =>
    suppress
      ? [
          {
            action_id: id,
            workspace_id: suppress.workspaceId,
            address: suppress.address,
            detail: storable(suppress.detail),
          },
        ]
      : [],
  )
  if (rows.length === 0) return NOTHING
  return {
    statement: `suppressed as (
    insert into postrider.suppressions (workspace_id, address, scope, reason, detail, created_at)
    select distinct on (workspace_id, address) workspace_id, address, 'all', 'hard_bounce', detail, ${now}
    from json_to_recordset($${parameter}::json) as row (action_id uuid, workspace_id uuid, address text, detail text)
    where action_id in (select id from written)
    order by workspace_id, address
    on conflict do nothing)`,
    values: [JSON.stringify(rows)],
  }
}
