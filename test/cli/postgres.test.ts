import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect as connectTo, createServer } from 'node:net'
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
import { askStatus } from './ask-status.js'
import { keyOf, urlOf } from './printed-curl.js'
import { type Cli, openCli } from './run-cli.js'
import { heldUnder } from '../support/held-under.js'

let built: BuiltPackage
let cli: Cli

const POSTRIDER_SECRET = 'the same for every process'

beforeAll(async () => {
  built = await buildPackage()
})
afterAll(() => built.remove())
beforeEach(() => {
  cli = openCli(built)
})
afterEach(() => cli.close())

test('work, serve, a command and doctor refuse a database without the schema, migrate makes it, and then work works', async () => {
  await withEmptyDatabase(async (url) => {
    const env = { DATABASE_URL: url, POSTRIDER_SECRET, LOG_LEVEL: 'info' }
    for (const command of [['work'], ['serve'], ['keys', 'list']]) {
      const refused = await cli.run(command, env)
      expect(refused).toMatchObject({ code: 4, stdout: '' })
      expect(refused.stderr).toMatch(
        /^postrider: The database schema misses 0000_actions.* Run "postrider migrate" first\.\n$/,
      )
    }
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

test('a role without rights is told so in one sentence, and doctor finds it', async () => {
  const { adminUrl } = inject('template')
  const role = `nobody_${randomUUID().slice(0, 8)}`
  await withAdminConnection(adminUrl, (client) => client.query(`create role ${role} login password 'nothing'`))
  try {
    const as = (url: string) => Object.assign(new URL(url), { username: role, password: 'nothing' }).href
    const env = { DATABASE_URL: as(await fileDatabase()), POSTRIDER_SECRET, PORT: '0' }
    for (const command of [['start'], ['emails', 'list']]) {
      const refused = await cli.run(command, env)
      expect(refused).toMatchObject({ code: 5, stdout: '' })
      expect(refused.stderr).toMatch(/^postrider: The role in DATABASE_URL lacks rights .*\(permission denied .*\n$/)
    }
    const doctor = await cli.run(['doctor'], env)
    expect(doctor).toMatchObject({ code: 1, stderr: '' })
    expect(doctor.stdout).toMatch(/^FAIL {2}database .*lacks rights/m)
    await withEmptyDatabase(async (url) => {
      const refused = await cli.run(['migrate'], { ...env, DATABASE_URL: as(url) })
      expect(refused.code).toBe(5)
      expect(refused.stderr).toMatch(/lacks rights .* needs CREATE on the database/)
    })
  } finally {
    await withAdminConnection(adminUrl, (client) => client.query(`drop role ${role}`))
  }
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
    const ticked = await cli.run(['tick', '--json'], { DATABASE_URL: url, POSTRIDER_SECRET, LOG_LEVEL: 'silent' })
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
    expect((await cli.run(['tick'], { DATABASE_URL: url, POSTRIDER_SECRET, LOG_LEVEL: 'silent' })).stdout).toBe(
      '0 done, 0 to retry, 0 failed, 0 uncertain\n',
    )
  } finally {
    await postrider.stop()
    await db.close()
  }
})

test('start shows a key once; after that it says how to make another, also when that one was revoked', async () => {
  await withEmptyDatabase(async (url) => {
    const env = { DATABASE_URL: url, POSTRIDER_SECRET, PORT: '0' }
    const first = await startAndStop(env)
    const key = keyOf(first)
    expect(first).toContain('(shown this once; keep it)')
    const again = await startAndStop(env)
    expect(again).not.toContain('pr_')
    expect(again).toContain('"postrider keys create" makes another')

    const { stdout } = await cli.run(['keys', 'list', '--json'], env)
    const { data } = JSON.parse(stdout) as { data: { id: string; name: string; prefix: string }[] }
    expect(data.map(({ name }) => name)).toEqual(['first start'])
    expect(key.startsWith(data[0]!.prefix)).toBe(true)
    expect((await cli.run(['keys', 'revoke', data[0]!.id], env)).code).toBe(0)
    expect(await startAndStop(env)).not.toContain('pr_')
  })
})

test('serve and work apart on one database: what one accepts the other sends', async () => {
  const url = await fileDatabase()
  const env = { DATABASE_URL: url, POSTRIDER_SECRET, LOG_LEVEL: 'info' }
  const serving = cli.start(['serve'], { ...env, PORT: '0' })
  const base = await until('it serves', () => /"url":"(http:[^"]+)"/.exec(serving.stderr())?.[1])
  const made = await cli.run(['keys', 'create', '--name', 'test'], env)
  expect(made.code).toBe(0)
  // Off a terminal the key is alone on standard output, to be put into a variable.
  expect(made.stdout).toMatch(/^pr_[\w-]{43}\n$/)
  const headers = { Authorization: `Bearer ${made.stdout.trim()}`, 'Content-Type': 'application/json' }
  const email = { to: 'ada@example.com', subject: 'Apart', text: 'Hello' }
  const posted = await fetch(`${base}/emails`, { method: 'POST', headers, body: JSON.stringify(email) })
  expect(posted.ok).toBe(true)
  const { id } = (await posted.json()) as { id: string }
  const statusOf = async () =>
    ((await (await fetch(`${base}/emails/${id}`, { headers })).json()) as { status: string }).status
  expect(await statusOf()).toBe('scheduled')

  const working = cli.start(['work'], env)
  await until('it is sent', async () => (await statusOf()) === 'sent')
  // Now it is awake, and the next one does not wait for a poll.
  const inline = await fetch(`${base}/emails`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ ...email, delivery: 'inline' }),
  })
  expect(await inline.json()).toMatchObject({ status: 'sent' })

  for (const each of [serving, working]) each.signal('SIGTERM')
  expect(await Promise.all([serving.exited, working.exited])).toEqual([0, 0])
  // A way in, as long as nobody has one; otherwise nothing: their words are the log's.
  expect(serving.stdout()).toMatch(
    /^Nobody can log in to the dashboard yet: choose a password at \S+\/admin\/setup#\S+ .*\n\n?$/,
  )
  expect(working.stdout()).toBe('')
})

test.each([['start'], ['serve']])('%s on a port that is taken exits with 5 and names PORT', async (command) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  try {
    const PORT = String((taken.address() as AddressInfo).port)
    const env = { DATABASE_URL: await fileDatabase(), POSTRIDER_SECRET, PORT }
    const { code, stdout, stderr } = await cli.run([command], env)
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' })
    expect(stderr).toMatch(new RegExp(`^postrider: .*${PORT}.*set PORT to another.*\n$`))
  } finally {
    taken.close()
  }
})

test('asked twice to stop, it is gone at once, though a request is still under way', async () => {
  const POSTRIDER_API_KEY = 'a-key-that-somebody-has-chosen'
  const env = { DATABASE_URL: await fileDatabase(), POSTRIDER_SECRET, POSTRIDER_API_KEY, PORT: '0' }
  const started = cli.start(['start'], env)
  await until('it is ready', () => started.stdout().includes('\nReady.'))
  // A body that does not come: the request stays under way, and a calm stop waits for it.
  const request = connectTo(Number(new URL(urlOf(started.stdout())).port), '127.0.0.1')
  request.on('error', () => undefined)
  await once(request, 'connect')
  request.write(
    `POST /api/emails HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${POSTRIDER_API_KEY}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
  )
  // An answered request behind it on another connection: the server has surely read the first by now.
  expect(await askStatus(`${urlOf(started.stdout())}/livez`)).toBe(200)
  started.signal('SIGTERM')
  await until('it has heard the first', () => started.stderr().includes('stopping'))
  started.signal('SIGTERM')
  expect(await started.exited).toBe(1)
  request.destroy()
})

async function startAndStop(env: Record<string, string>): Promise<string> {
  const started = cli.start(['start'], env)
  await until('it is ready', () => started.stdout().includes('\nReady.'))
  started.signal('SIGTERM')
  expect(await started.exited).toBe(0)
  return started.stdout()
}

/** As a worker would, with a lease that has run out since. */
async function claimAndArm(db: Database, id: string): Promise<void> {
  const token = newId()
  await claimActions(db, { token, worker: 'dead:0:0', limit: 10, leaseMs: 60_000, cursor: FIRST_LANE })
  expect(await armActions(db, heldUnder(token, [id]))).toEqual(new Set([id]))
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
