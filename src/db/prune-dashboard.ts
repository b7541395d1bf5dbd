import type { Sql } from './client.js'
import { readRetentionStart } from './prune-actions.js'

/** Forgets sessions that are over, links that can be used no more, and deeds that are long past. */
export async function pruneDashboard(
  sql: Sql,
  { idleMs, auditMs, limit }: { idleMs: number; auditMs: number; limit: number },
): Promise<void> {
  await sql.query(
    `delete from postrider.dashboard_sessions
     where expires_at < ${sql.now} or seen_at < ${sql.now} - $1::float8 * interval '1 millisecond'`,
    [idleMs],
  )
  await sql.query(`delete from postrider.dashboard_links where expires_at < ${sql.now}`)
  await pruneAudit(sql, auditMs, limit)
}

/** Ids sort by the time they were made: the old ones stand together at the beginning of the primary key. */
async function pruneAudit(sql: Sql, auditMs: number, limit: number): Promise<void> {
  const before = await readRetentionStart(sql, auditMs)
  for (;;) {
    const { rowCount } = await sql.query(
      `delete from postrider.audit_log where id in (
         select id from postrider.audit_log where id < $1 order by id limit $2)`,
      [before, limit],
    )
    if (rowCount < limit) return
  }
}
