import type { Database, Sql } from './client.js'

/**
 * Reads with many statements what was true at one instant, locking nothing; the database itself refuses to write in
 * there. The embedded database has one session, for which everybody else would have to wait: there each statement reads
 * what is true when it runs.
 */
export function readSnapshot<T>(db: Database, work: (sql: Sql) => Promise<T>): Promise<T> {
  if (db.embedded) return work(db)
  return db.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only')
    return work(tx)
  })
}
