import { userInfo } from 'node:os'
import { acquireService, type AcquiredService, type ServiceKind } from './acquire-service.js'
import { describePostgres, oldestPostgres } from './postgres-probe.js'
import { startPrivatePostgres } from './private-postgres.js'

const users = ['postgres', userInfo().username]

export const postgresKind: ServiceKind = {
  name: `PostgreSQL ${oldestPostgres} or newer`,
  variable: 'TEST_DATABASE_URL',
  usualUrls: [
    ...users.map((user) => `postgresql://${user}@127.0.0.1:5432/postgres`),
    // A socket has no place in the authority of a URL; as a parameter both libpq and pg understand it.
    ...users.map((user) => `postgresql://${user}@localhost/postgres?host=/var/run/postgresql`),
  ],
  async objection(url) {
    const found = await describePostgres(url)
    if (!found.reachable) return found.reason
    if (found.version < oldestPostgres) return `it is version ${found.version}`
    return found.mayCreateDatabases ? null : 'its user may not create databases'
  },
  startPrivate: () => startPrivatePostgres(),
}

export function acquirePostgres(): Promise<AcquiredService> {
  return acquireService(postgresKind)
}
