import type { Sql } from './client.js'

/**
 * When the emails that wait will fall due, in steps of equal length from an instant on.
 *
 * Of each step the index of what waits says how many actions there are, of all workspaces and kinds. How many of them are
 * this workspace's emails is asked of the first ones only: with a million waiting, asking all would take seconds. So a
 * step that holds more than those, and others' actions among them, is an estimate and says so.
 */
export interface UpcomingStep {
  readonly at: Date
  readonly emails: number
  readonly estimated: boolean
}

/** Each is a row that is read: so many of one step at the most, and of all steps together. */
const SAMPLED = { step: 500, all: 12_000 }

const steps = `
  select step.at, total.actions, sample.looked, sample.own
  from (select $2::timestamptz + i * $4::float8 * interval '1 second' as at from generate_series(0, $3::int - 1) i) step
  cross join lateral (
    select count(*)::int as actions from postrider.scheduled_actions
    where wake_at >= step.at and wake_at < step.at + $4::float8 * interval '1 second') total
  cross join lateral (
    select count(*)::int as looked, count(*) filter (where workspace_id = $1 and message_id is not null)::int as own
    from (select workspace_id, message_id from postrider.scheduled_actions
      where wake_at >= step.at and wake_at < step.at + $4::float8 * interval '1 second'
      order by wake_at limit $5) first) sample
  order by step.at`

export async function countUpcoming(
  sql: Sql,
  workspaceId: string,
  { from, count, seconds }: { readonly from: Date; readonly count: number; readonly seconds: number },
): Promise<UpcomingStep[]> {
  const { rows } = await sql.query<{ at: Date; actions: number; looked: number; own: number }>(steps, [
    workspaceId,
    from,
    count,
    seconds,
    Math.min(SAMPLED.step, Math.ceil(SAMPLED.all / count)),
  ])
  return rows.map(({ at, actions, looked, own }) => ({
    at,
    emails: looked === 0 ? 0 : Math.round((actions * own) / looked),
    estimated: actions > looked && own > 0 && own < looked,
  }))
}
