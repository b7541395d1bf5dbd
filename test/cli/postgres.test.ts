import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { armActions } from '../../src/db/arm-actions.js'
import { claimActions, FIRST_LANE } from '../../src/db/claim-actions.js'
import { connect, type Database } from '../../src/db/client.js'
import { createPostrider, newId } from '../../src/index.js'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { databaseUrl, withAdminConnection } from '../support/services/admin-connection.js'
import { fileDatabase } from '../support/services/file-database.js'
import { runDatabaseName } from '../support/services/run-databases.js'
import { until } from '../support/until.js'
import { type Cli, openCli } from './run-cli.js'

let built: BuiltPackage
let cli: Cli

beforeAll(async () => {
  built = await buildPackage()
})
afterAll(() => built.remove())
beforeEach(() => {
  cli = openCli(built)
})
afterEach(() => cli.close())

test('work and doctor refuse a database without the schema, migrate makes it, and then work works', async () => {
  await withEmptyDatabase(async (url) => {
    const env = { DATABASE_URL: url, LOG_LEVEL: 'info' }
    const refused = await cli.run(['work'], env)
    expect(refused).toMatchObject({ code: 4, stdout: '' })
    expect(refused.stderr).toMatch(
      /^postrider: The database schema misses 0000_actions.* Run "postrider migrate" first\.\n$/,
    )
    const doctor = await cli.run(['doctor'], env)
    expect(doctor.code).toBe(1)
    expect(doctor.stdout).toMatch(/^FAIL {2}schema .*run "postrider migrate"/m)

    const migrated = await cli.run(['migrate', '--json'], env)
    expect(migrated).toMatchObject({ code: 0, stderr: '' })
    expect((JSON.parse(migrated.stdout) as { applied: string[] }).applied[0]).toBe('0000_actions')

    const worker = cli.start(['work'], env)
    await until('it works', () => worker.stderr().includes('"working"'))
    worker.signal('SIGTERM')
    expect(await worker.exited).toBe(0)
    expect(worker.stdout()).toBe('')
    expect((await cli.run(['doctor'], env)).code).toBe(0)
  })
})

test('several that migrate at once do not disturb each other', async () => {
  await withEmptyDatabase(async (url) => {
    const results = await Promise.all([1, 2, 3].map(() => cli.run(['migrate', '--json'], { DATABASE_URL: url })))
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0])
    const applied = results.map(({ stdout }) => (JSON.parse(stdout) as { applied: string[] }).applied)
    expect(applied.filter((names) => names.length > 0)).toHaveLength(1)
  })
})

test('tick does what is due, says so on standard output, and exits', async () => {
  const url = await fileDatabase()
  const postrider = await createPostrider({ databaseUrl: url, maxConnections: 2 })
  const db = connect({ connection: { connectionString: url }, maxConnections: 2 })
  try {
    const action = (type: string, expiresAt?: Date) => ({
      type,
      laneId: randomUUID(),
      dedupeKey: `${type}:${randomUUID()}`,
      ...(expiresAt && { expiresAt }),
    })
    const schedule = async (...args: Parameters<typeof action>) =>
      (await postrider.actions.schedule(action(...args))).actions[0]!.id
    // A worker that died after arming, one action whose time is over, one that nobody here knows how to do.
    const abandoned = await schedule('abandoned')
    await claimAndArm(db, abandoned)
    const late = await schedule('late', new Date(Date.now() - 1_000))
    const foreign = await schedule('foreign')

    const asked = performance.now()
    const ticked = await cli.run(['tick', '--json'], { DATABASE_URL: url, LOG_LEVEL: 'silent' })
    expect(ticked).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(ticked.stdout)).toEqual({
      claimed: 1,
      done: 0,
      retry: 0,
      failed: 0,
      skipped: 0,
      uncertain: 0,
      release: 1,
    })
    expect(performance.now() - asked).toBeLessThan(20_000)
    expect((await postrider.actions.find(abandoned))?.state).toBe('uncertain')
    expect((await postrider.actions.find(late))?.state).toBe('expired')
    expect(await postrider.actions.find(foreign)).toMatchObject({ state: 'pending', attempts: 0 })
    expect((await cli.run(['tick'], { DATABASE_URL: url, LOG_LEVEL: 'silent' })).stdout).toBe(
      '0 done, 0 to retry, 0 failed, 0 uncertain\n',
    )
  } finally {
    await postrider.stop()
    await db.close()
  }
})

/** As a worker would, with a lease that has run out since. */
async function claimAndArm(db: Database, id: string): Promise<void> {
  const token = newId()
  await claimActions(db, { token, worker: 'dead:0:0', limit: 10, leaseMs: 60_000, cursor: FIRST_LANE })
  expect(await armActions(db, token, [id])).toEqual(new Set([id]))
  await db.query(`update postrider.leases set expires_at = now() - interval '1 second' where token = $1`, [token])
}

async function withEmptyDatabase(work: (url: string) => Promise<void>): Promise<void> {
  const { adminUrl, runId } = inject('template')
  const name = runDatabaseName(runId, randomUUID().slice(0, 8))
  await withAdminConnection(adminUrl, (client) => client.query(`create database "${name}" template template0`))
  try {
    await work(databaseUrl(adminUrl, name))
  } finally {
    await withAdminConnection(adminUrl, (client) => client.query(`drop database if exists "${name}" with (force)`))
  }
}
