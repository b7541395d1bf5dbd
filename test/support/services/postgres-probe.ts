import pg from 'pg'

/** The oldest PostgreSQL that Postrider supports. */
export const oldestPostgres = 15

export async function answersPostgres(url: string): Promise<boolean> {
  return (await describePostgres(url)).reachable
}

export type PostgresDescription =
  | { reachable: false; reason: string }
  | { reachable: true; version: number; mayCreateDatabases: boolean }

export async function describePostgres(url: string): Promise<PostgresDescription> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3000 })
  // A server that goes away between two queries is reported by the query, not by an uncaught event.
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ version: number; may_create: boolean }>(
      `select current_setting('server_version_num')::int / 10000 as version, rolcreatedb or rolsuper as may_create
         from pg_roles where rolname = current_user`,
    )
    const row = rows[0]
    return row
      ? { reachable: true, version: row.version, mayCreateDatabases: row.may_create }
      : { reachable: false, reason: 'the role is unknown' }
  } catch (error) {
    return { reachable: false, reason: (error as Error).message }
  } finally {
    await client.end().catch(() => {})
  }
}
