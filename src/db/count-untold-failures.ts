import type { Sql } from './client.js'

/** Failures a broker should have been told of minutes ago. Without a broker nobody is to be told, and there are none. */
export async function countUntoldFailures(sql: Sql): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(
    `select count(*)::int as count from postrider.dead_letters
     where published_at is null and queued_at < ${sql.now} - interval '5 minutes'`,
  )
  return rows[0]!.count
}
