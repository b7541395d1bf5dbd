import { databaseUrl, withAdminConnection } from '../../test/support/services/admin-connection.js'
import { acquirePostgres } from '../../test/support/services/postgres.js'
import {
  dropAbandonedDatabases,
  dropRunDatabases,
  newRunId,
  runDatabaseName,
} from '../../test/support/services/run-databases.js'

/**
 * Empty databases on a PostgreSQL that was found running or is started for this run. They are named as the tests name
 * theirs, so that whatever a killed run leaves behind is dropped by the next one, be it a test or a benchmark.
 */
export interface BenchDatabases {
  readonly adminUrl: string
  create(suffix: string): Promise<string>
  drop(suffix: string): Promise<void>
  /** Writes back what earlier work left dirty, so that it does not burden whoever is measured next. */
  checkpoint(): Promise<void>
  /** Drops all that are left, and the server if it is ours. */
  close(): Promise<void>
}

export async function openBenchDatabases(): Promise<BenchDatabases> {
  const service = await acquirePostgres()
  const runId = newRunId()
  const { url: adminUrl } = service
  const nameOf = (suffix: string) => runDatabaseName(runId, `bench_${suffix}`)
  const execute = (statement: string) => withAdminConnection(adminUrl, (client) => client.query(statement))
  await dropAbandonedDatabases(adminUrl)

  return {
    adminUrl,
    async create(suffix) {
      await execute(`create database "${nameOf(suffix)}"`)
      return databaseUrl(adminUrl, nameOf(suffix))
    },
    async drop(suffix) {
      await execute(`drop database if exists "${nameOf(suffix)}" with (force)`)
    },
    async checkpoint() {
      // Only a superuser may; without it the figures are a little noisier.
      await execute('checkpoint').catch(() => undefined)
    },
    async close() {
      await dropRunDatabases(adminUrl, runId)
      await service.release()
    },
  }
}
