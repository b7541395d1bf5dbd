import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect, type Database } from '../../src/db/client.js'
import { createPostrider } from '../../src/index.js'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { silent } from '../support/kernel.js'
import { type PrivatePostgres, startPrivatePostgres } from '../support/services/private-postgres.js'
import { until } from '../support/until.js'
import { type Judge, startJudge } from './judge.js'
import { type MailProcess, startMail } from './mail-process.js'
import { readRecords, untilSettled } from './records.js'
import { times } from './times.js'

const EMAILS = 8
const DOMAIN = 'mail.test'

let built: BuiltPackage
let postgres: PrivatePostgres
let db: Database
let judge: Judge
let dataDirectory: string
const processes = new Set<MailProcess>()

beforeAll(async () => {
  built = await buildPackage()
  postgres = await startPrivatePostgres()
  db = connect({ connection: { connectionString: postgres.url }, maxConnections: 2 })
})
afterAll(async () => {
  await db.close()
  await postgres.dispose()
  built.remove()
})
beforeEach(() => {
  judge = startJudge()
  dataDirectory = mkdtempSync(join(tmpdir(), 'postrider-kill-'))
})
afterEach(async () => {
  await Promise.all([...processes].map((process) => process.kill()))
  processes.clear()
  await judge.close()
  rmSync(dataDirectory, { recursive: true })
  // A test that failed while the server was down must not take the others with it.
  await postgres.start().catch(() => undefined)
  await db.query(
    'truncate postrider.scheduled_actions, postrider.messages, postrider.leases, postrider.attempts cascade',
  )
})

async function start(name: string, directory = dataDirectory): Promise<MailProcess> {
  const process = startMail(built, await judge.openDoor(name), {
    databaseUrl: postgres.url,
    dataDirectory: directory,
    attach: false,
    works: true,
    listens: false,
    leaseMs: 2_000,
    sweepMs: 500,
    concurrency: EMAILS,
    waitsMs: [100],
    maxAttempts: 5,
  })
  processes.add(process)
  return process
}

const readNotes = () =>
  readdirSync(join(dataDirectory, 'notes')).flatMap((file) =>
    readFileSync(join(dataDirectory, 'notes', file), 'utf8')
      .trimEnd()
      .split('\n'),
  )
const hasNotes = () => {
  try {
    return readNotes().length === EMAILS
  } catch {
    return false
  }
}

/** Eight emails were taken and answered with 250, and the database went away before that. */
async function loseTheDatabase(): Promise<MailProcess> {
  const mailFrom = { name: 'Kill suite', address: 'kill@sender.test' }
  const postrider = await createPostrider({
    databaseUrl: postgres.url,
    mailFrom,
    smtpUrl: 'smtp://127.0.0.1:1',
    log: silent,
  })
  await postrider.emails.sendBatch(
    Array.from({ length: EMAILS }, (_, n) => ({ to: `email${n}@${DOMAIN}`, subject: 'Hello', text: 'Hello.' })),
  )
  await postrider.stop()
  const worker = await start('worker')
  const held: (() => void)[] = []
  worker.door.onPoint = (point) => (point === 'dot' ? new Promise<void>((resolve) => held.push(resolve)) : undefined)
  await until('all are at their dot', () => held.length === EMAILS)
  await postgres.stop('immediate')
  for (const answer of held) answer()
  await until('the worker has noted what it cannot tell the database', hasNotes)
  return worker
}

async function expectSentOnce(): Promise<void> {
  // Who noted it has told the database. Until then a sweep may find the lease run out and call it uncertain, which is
  // an end to whoever only looks at the states.
  await until('no note is left', () => readdirSync(join(dataDirectory, 'notes')).length === 0)
  await untilSettled(db, { progress: () => judge.handOvers.length })
  const records = await readRecords(db, DOMAIN)
  expect(records.map(({ state }) => state)).toEqual(times(EMAILS, 'done'))
  expect(records.map(({ outcomes }) => outcomes.map(({ outcome }) => outcome))).toEqual(times(EMAILS, ['accepted']))
  expect(judge.handOvers.map(({ door, answer }) => [door, answer])).toEqual(times(EMAILS, ['worker', 250]))
}

describe('when the database is away after 250,', () => {
  test('the emails settle by themselves when it is back', async () => {
    const worker = await loseTheDatabase()
    await postgres.start()
    await expectSentOnce()
    expect(await worker.stop()).toBe(0)
  })

  test('and the worker is killed, the next one in its directory knows they were sent', async () => {
    const worker = await loseTheDatabase()
    await worker.kill()
    await postgres.start()
    const next = await start('next')
    await next.ready
    await expectSentOnce()
    expect(await next.stop()).toBe(0)
  })

  test('and a worker elsewhere finds them uncertain first, the notes still settle them', async () => {
    const worker = await loseTheDatabase()
    await worker.kill()
    await postgres.start()
    const elsewhere = mkdtempSync(join(tmpdir(), 'postrider-kill-'))
    const stranger = await start('stranger', elsewhere)
    await untilSettled(db)
    expect((await readRecords(db, DOMAIN)).map(({ state }) => state)).toEqual(times(EMAILS, 'uncertain'))
    const next = await start('next')
    await next.ready
    await expectSentOnce()
    expect([await stranger.stop(), await next.stop()]).toEqual([0, 0])
    rmSync(elsewhere, { recursive: true })
  })
})
