import { afterAll, inject } from 'vitest'
import { persistingLeaks, watchForLeaks } from './find-leaks.js'
import { withAdminConnection } from './services/admin-connection.js'
import { forgetFileDatabase } from './services/file-database.js'
import { SHARED_PROCESS } from './sharing.js'

/**
 * Loaded by vitest before every test file. Hooks run in reverse, so this one, registered first, runs after all the
 * file's own: whatever is open then, nobody is going to close, and the file fails with its name.
 */
const graceMs = 2000
// Only there, because loading it takes a while and most processes run one file.
if (process.env[SHARED_PROCESS] !== undefined)
  await (await import('./services/kept-embedded.js')).keepEmbedded(inject('embeddedTemplate'))
const watch = watchForLeaks()

afterAll(async () => {
  const database = await forgetFileDatabase()
  const connections = database
    ? await persistingLeaks(() => findConnections(inject('template').adminUrl, database.name), graceMs)
    : []
  // Dropped under a connection, the database would take it down with an error of its own that hides the leak; the end of
  // the run drops it anyway.
  if (connections.length === 0) await database?.drop()
  const handles = await persistingLeaks(async () => watch.findLeaks(), graceMs)
  watch.end()
  const leaks = [...connections, ...handles]
  if (leaks.length > 0) throw new Error(`This test file leaves behind:\n  ${leaks.join('\n  ')}`)
})

/** Also those of child processes, which no list of our own handles shows. */
function findConnections(adminUrl: string, database: string): Promise<string[]> {
  return withAdminConnection(adminUrl, async (client) => {
    const { rows } = await client.query<{ pid: number; application_name: string; state: string; query: string }>(
      `select pid, application_name, state, left(query, 80) as query
         from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
      [database],
    )
    return rows.map(
      ({ pid, application_name: application, state, query }) =>
        `connection ${pid} of "${application}" to the file's database, ${state}, last query: ${query}`,
    )
  })
}
