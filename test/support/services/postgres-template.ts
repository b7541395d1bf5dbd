import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { databaseUrl, withAdminConnection } from './admin-connection.js'
import { newRunId, runDatabaseName } from './run-databases.js'

/** The migrated, empty database of which every test file gets a copy. Plain data, so that it can be provided to them. */
export interface Template {
  adminUrl: string
  runId: string
  database: string
}

export interface ClonedDatabase {
  url: string
  name: string
  drop(): Promise<void>
}

export async function createTemplate(adminUrl: string, prepare: (url: string) => Promise<void>): Promise<Template> {
  const runId = newRunId()
  const database = runDatabaseName(runId, 'template')
  // From template0 with a fixed encoding and locale: the server's own may be SQL_ASCII, or sort as some language does,
  // and then tests would depend on the machine.
  await withAdminConnection(adminUrl, async (client) =>
    client.query(
      `create database "${database}" template template0 encoding 'UTF8' locale '${await findLocale(client)}'`,
    ),
  )
  await prepare(databaseUrl(adminUrl, database))
  // A single connection to the template makes every clone fail, so nobody gets one.
  await withAdminConnection(adminUrl, (client) => client.query(`alter database "${database}" allow_connections false`))
  return { adminUrl, runId, database }
}

export async function cloneDatabase(template: Template): Promise<ClonedDatabase> {
  const { adminUrl, runId } = template
  const name = runDatabaseName(runId, randomBytes(4).toString('hex'))
  await withAdminConnection(adminUrl, (client) =>
    client.query(`create database "${name}" template "${template.database}" strategy wal_log`),
  )
  return {
    url: databaseUrl(adminUrl, name),
    name,
    async drop() {
      await withAdminConnection(adminUrl, (client) => client.query(`drop database if exists "${name}" with (force)`))
    },
  }
}

/** Byte order, but with letters beyond ASCII known as letters; the bare C where the system lacks it. */
async function findLocale(client: pg.Client): Promise<string> {
  const { rowCount } = await client.query(`select from pg_collation where collname in ('C.utf8', 'C.UTF-8')`)
  return rowCount ? 'C.UTF-8' : 'C'
}
