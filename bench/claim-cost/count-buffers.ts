import type { Sql } from '../../src/db/client.js'

/** Pages of tables, indexes and sequences that everybody has asked for so far, found in memory or not. */
const touched = `
  select (
    select sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0)
      + coalesce(toast_blks_read + toast_blks_hit, 0) + coalesce(tidx_blks_read + tidx_blks_hit, 0))
    from pg_statio_user_tables
  )::float8 + (select coalesce(sum(blks_read + blks_hit), 0) from pg_statio_user_sequences)::float8 as buffers`

/**
 * How many pages `work` touches on the one connection that `sql` is. By the server's counters: EXPLAIN leaves out of its
 * total what a writing step does that no other step reads, and a claim consists of such steps.
 */
export async function countBuffers<T>(sql: Sql, work: () => Promise<T>): Promise<{ result: T; buffers: number }> {
  const before = await read(sql)
  const result = await work()
  return { result, buffers: (await read(sql)) - before }
}

async function read(sql: Sql): Promise<number> {
  // A session publishes its counters once a second unless told otherwise.
  await sql.query('select pg_stat_force_next_flush()')
  return (await sql.query<{ buffers: number }>(touched)).rows[0]!.buffers
}
