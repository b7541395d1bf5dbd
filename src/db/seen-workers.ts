import type { Sql } from './client.js'

/** Who has held or sent something in the last minutes. A worker that finds nothing to do leaves no trace. */
export interface SeenWorker {
  readonly worker: string
  readonly seenAt: Date
}

/** Enough to meet everybody who is busy; the busiest would fill any number. */
const LATEST = 2_000

export async function findSeenWorkers(sql: Sql): Promise<SeenWorker[]> {
  const { rows } = await sql.query<SeenWorker>(
    `select worker, max(at) as "seenAt" from (
       select worker, leased_at as at from postrider.leases
       union all
       (select worker, at from postrider.attempts where at > ${sql.now} - interval '5 minutes' order by at desc limit ${LATEST})
     ) seen where at > ${sql.now} - interval '5 minutes' group by worker order by 2 desc`,
  )
  return rows
}
