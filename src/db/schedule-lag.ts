import type { Sql } from './client.js'

/**
 * How long after they were due emails went out: of the latest that did within the hour, a thousand at the most, so that
 * it costs the same on a busy day. Those a pause held back waited as well, and count.
 */
export interface ScheduleLag {
  readonly emails: number
  readonly p50Seconds: number
  readonly p95Seconds: number
}

const LATEST = 1_000

/** Null when nothing went out. */
export async function readScheduleLag(sql: Sql, workspaceId: string): Promise<ScheduleLag | null> {
  const { rows } = await sql.query<{ emails: number; lags: [number, number] | null }>(
    `select count(*)::int as emails,
       percentile_cont(array[0.5, 0.95]) within group (order by greatest(0, extract(epoch from at - run_at)::float8)) as lags
     from (select action_id, at from postrider.attempts
         where at > ${sql.now} - interval '1 hour' and outcome = 'accepted' order by at desc limit ${LATEST}) latest
       cross join lateral (select run_at from postrider.scheduled_actions
         where id = latest.action_id and workspace_id = $1 and state = 'done') action`,
    [workspaceId],
  )
  const { emails, lags } = rows[0]!
  return lags && { emails, p50Seconds: lags[0], p95Seconds: lags[1] }
}
