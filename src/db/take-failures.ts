import type { Sql } from './client.js'

/**
 * Takes actions that failed for good, and of which the broker was not told, for telling it. A failure is told once: the
 * row in `dead_letters` names the action and the moment. One that was taken and not marked told within `afterMs` is
 * taken again, so that a relay that dies in between costs at most a second event, never a missing one.
 *
 * It reads what needs attention, by its index: that is what somebody has to look at anyway, and not the history.
 */
export interface Failure {
  readonly id: string
  readonly workspaceId: string
  readonly dedupeKey: string
  readonly type: string
  readonly attempts: number
  readonly reasonCode: string | null
  readonly failedAt: Date
}

const take = (now: string) => `
  with old as materialized (
    select ${now} - $2::float8 * interval '1 millisecond' as before
  ), failed as materialized (
    select id, state_at from postrider.scheduled_actions action
    where needs_attention and state = 'failed' and not exists (
      select 1 from postrider.dead_letters letter
      where letter.action_id = action.id and letter.failed_at = action.state_at
        and (published_at is not null or queued_at > (select before from old)))
    limit $1
  ), taken as (
    insert into postrider.dead_letters as letter (action_id, failed_at, queued_at)
    select id, state_at, ${now} from failed order by id
    on conflict (action_id) do update
      set failed_at = excluded.failed_at, queued_at = excluded.queued_at, published_at = null
      where letter.failed_at <> excluded.failed_at
        or letter.published_at is null and letter.queued_at <= (select before from old)
    returning action_id, failed_at
  )
  select id, workspace_id as "workspaceId", dedupe_key as "dedupeKey", type, attempts, reason_code as "reasonCode",
    failed_at as "failedAt"
  from taken join postrider.scheduled_actions action on action.id = taken.action_id order by failed_at`

export async function takeFailures(sql: Sql, limit: number, afterMs: number): Promise<Failure[]> {
  return (await sql.query<Failure>(take(sql.now), [limit, afterMs])).rows
}

export async function markFailuresTold(sql: Sql, actionIds: readonly string[]): Promise<void> {
  await sql.query(
    `update postrider.dead_letters set published_at = ${sql.now}
     where action_id = any ($1::uuid[]) and published_at is null`,
    [actionIds],
  )
}
