import type { Sql } from '../../src/db/client.js'

class Explained extends Error {}

/**
 * Runs the one statement that `work` issues under EXPLAIN (ANALYZE, BUFFERS), for real, and returns the plan as text.
 * `work` itself ends there: it waits for the statement's result, and a plan is not one.
 */
export async function explain(sql: Sql, work: (sql: Sql) => Promise<unknown>): Promise<string> {
  let plan = ''
  const explaining: Sql = {
    now: sql.now,
    async query(text, values) {
      const { rows } = await sql.query<{ 'QUERY PLAN': string }>(`explain (analyze, buffers) ${text}`, values)
      plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      throw new Explained()
    },
  }
  await work(explaining).catch((error: unknown) => {
    if (!(error instanceof Explained)) throw error
  })
  return plan
}
