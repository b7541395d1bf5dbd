/**
 * `npm run soak:brokers -- [--emails 20000] [--away 60] [--only bullmq|rabbitmq]`: the storm of the-broker-comes-and-goes,
 * full size, on private servers: four workers with a relay each, a broker that stays away for a minute each time, every
 * message delivered twice. Ends with 1 when a promise was broken.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connect } from '../../src/db/client.js'
import { migrate } from '../../src/db/migrate.js'
import { startPrivatePostgres } from '../support/services/private-postgres.js'
import { runBrokerStorm, SWEEP_MS } from './broker-storm.js'
import { CARRIERS, privateServer, withPrefix } from './storm-servers.js'

const { values } = parseArgs({
  options: {
    emails: { type: 'string', default: '20000' },
    away: { type: 'string', default: '60' },
    only: { type: 'string' },
  },
})
const emails = Number(values.emails)
const awayMs = Number(values.away) * 1_000

for (const name of CARRIERS.filter((one) => one === (values.only ?? one))) {
  const postgres = await startPrivatePostgres()
  const server = await privateServer(name)
  const dataDirectory = mkdtempSync(join(tmpdir(), 'postrider-soak-'))
  const report = (line: string) => process.stdout.write(`${name}: ${line}\n`)
  try {
    const db = connect({ connection: { connectionString: postgres.url }, maxConnections: 1 })
    await migrate(db)
    await db.close()
    const brokerUrl = withPrefix(server.url)
    const place = { databaseUrl: postgres.url, dataDirectory, server, brokerUrl }
    const storm = await runBrokerStorm({ ...place, emails, domain: `${name}.test`, workers: 4, awayMs, report })
    report(JSON.stringify(storm))
    const once = storm.taken === emails && storm.most === 1 && storm.states['done'] === emails && storm.left === 0
    // A sweep, and a few seconds: those of the machine and of the client that connects again.
    const kept = once && storm.copies > 0 && storm.caughtUpMs.every((ms) => ms < SWEEP_MS + 5_000)
    report(kept ? 'every email went out once, and none waited for the broker' : 'BROKEN')
    if (!kept) process.exitCode = 1
  } finally {
    await server.dispose()
    await postgres.dispose()
    rmSync(dataDirectory, { recursive: true, force: true })
  }
}
