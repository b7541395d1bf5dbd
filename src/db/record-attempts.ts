import type { Settlement } from '../domain/action.js'
import { storable } from './storable.js'

/**
 * The step of a settling statement that keeps what was seen. It is not fenced: a worker that lost its lease may not
 * decide anything any more, but what it saw is evidence. Its key is made by the worker, so that a settling that is
 * repeated after a lost answer keeps each attempt once.
 */
export function recordAttempts(
  now: string,
  settlements: readonly Settlement[],
  parameter: number,
): { statement: string; values: readonly string[] } {
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
  if (rows.length === 0) return { statement: '', values: [] }
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
