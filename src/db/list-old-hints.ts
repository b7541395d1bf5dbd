import type { Sql } from './client.js'

/**
 * The jobs whose messages should have led to a claim by now: due, confirmed by the broker, and out for a while. Bounded by
 * what may be out at all. A broker that can be asked says which of them it still has.
 */
export async function listOldHints(sql: Sql, afterMs: number): Promise<string[]> {
  const before = `${sql.now} - $1::float8 * interval '1 millisecond'`
  const { rows } = await sql.query<{ job_id: string }>(
    `select job_id from postrider.published_hints
     where queued_at <= ${before} and run_at <= ${before} and published_at is not null and job_id is not null`,
    [afterMs],
  )
  return rows.map(({ job_id }) => job_id)
}
