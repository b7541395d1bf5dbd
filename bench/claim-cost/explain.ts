import type { Sql } from '../../src/db/client.js'

/**
 * Runs somebody else's statement under EXPLAIN (ANALYZE, BUFFERS), for real, and returns the plan as text. `answer` is what the
 * caller of the statement is told instead of its result.
 */
export async function explain(sql: Sql, work: (sql: Sql) => Promise<unknown>, answer: object): Promise<string> {
  let plan = ''
  await work({
    now: sql.now,
    async query<Row>(text: string, values?: readonly unknown[]) {
      const { rows } = await sql.query<{ 'QUERY PLAN': string }>(`explain (analyze, buffers) ${text}`, values)
      plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      return { rows: [answer as Row], rowCount: 1 }
    },
  })
  return plan
}
