import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { NewEmail } from '../../src/domain/new-email.js'
import { createPostrider, type Postrider } from '../../src/index.js'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { silent } from '../support/kernel.js'
import { type DatabaseKind, openTestDatabase, type TestDatabase } from '../support/test-database.js'
import { until } from '../support/until.js'
import { type HandOver, type Judge, type Point, startJudge } from './judge.js'
import type { MailSettings } from './mail-program.js'
import { type MailProcess, type MailProcessOptions, startMail } from './mail-process.js'
import { type EmailRecord, readRecords, untilSettled } from './records.js'

/** Processes that send to the judge, on a database the test looks into; all of them end with the test. */
export interface KillFixture {
  readonly judge: Judge
  readonly database: TestDatabase
  /** Where the notes of the processes are. */
  readonly dataDirectory: string
  /** Starts a worker whose conversations wait at `pauseAt` until they are let go. */
  worker(name: string, options?: WorkerOptions): Promise<PausedWorker>
  /** Accepts emails to `name`1, `name`2, … */
  send(name: string, count: number, email?: Partial<NewEmail>): Promise<void>
  /** What the judge took for these recipients. */
  copies(name: string): HandOver[]
  records(name: string): Promise<EmailRecord[]>
  settled(): Promise<void>
  /** Until so many emails are in that state. */
  untilState(name: string, state: EmailRecord['state'], count: number): Promise<void>
}

export interface WorkerOptions extends MailProcessOptions {
  readonly pauseAt?: Point
  readonly settings?: Partial<MailSettings>
}

export interface PausedWorker extends MailProcess {
  /** Conversations that wait now. */
  waiting(): number
  /** Lets those that wait go on, and whatever comes after them. */
  letGo(): void
}

/** Short, but longer than a loaded machine takes between two renewals. */
export const LEASE_MS = 3_000

const DEFAULTS = {
  works: true,
  listens: false,
  leaseMs: LEASE_MS,
  sweepMs: 500,
  concurrency: 8,
  waitsMs: [100, 200, 400],
  maxAttempts: 5,
}

/** Built once per file, and removed when the last of its fixtures is done. */
let building: Promise<BuiltPackage> | undefined
let fixtures = 0

export function openKillFixture(kind: DatabaseKind): KillFixture {
  fixtures++
  let built: BuiltPackage | undefined
  let database: TestDatabase | undefined
  let dataDirectory: string
  let postrider: Postrider
  let judge: Judge
  const processes = new Set<MailProcess>()

  beforeAll(async () => {
    built = await (building ??= buildPackage())
    database = await openTestDatabase(kind)
  })
  beforeEach(async () => {
    await database!.clear()
    dataDirectory = mkdtempSync(join(tmpdir(), 'postrider-kill-'))
    judge = startJudge()
    const mailFrom = { name: 'Kill suite', address: 'kill@sender.test' }
    postrider = await createPostrider({
      ...database!.location,
      attach: true,
      migrate: false,
      smtpUrl: 'smtp://127.0.0.1:1',
      mailFrom,
      log: silent,
    })
  })
  afterEach(async () => {
    await Promise.all([...processes].map((process) => process.kill()))
    processes.clear()
    await judge.close()
    await postrider.stop()
    rmSync(dataDirectory, { recursive: true })
  })
  afterAll(async () => {
    await database?.close()
    if (--fixtures === 0) built?.remove()
  })

  const recordsOf = (name: string) => readRecords(database!.db, `${name}.test`)
  return {
    get judge() {
      return judge
    },
    get database() {
      return database!
    },
    get dataDirectory() {
      return dataDirectory
    },
    async worker(name, { pauseAt, settings, ...options } = {}) {
      const door = await judge.openDoor(name)
      const { location } = database!
      const place = 'databaseUrl' in location ? { ...location, dataDirectory } : { databaseUrl: null, ...location }
      let isOpen = false
      const held = new Set<() => void>()
      door.onPoint = (point) => {
        if (point !== pauseAt || isOpen) return
        return new Promise<void>((resolve) => held.add(resolve))
      }
      const process = startMail(built!, door, { ...DEFAULTS, ...place, attach: true, ...settings }, options)
      processes.add(process)
      await process.ready
      return Object.assign(process, {
        waiting: () => held.size,
        letGo() {
          isOpen = true
          for (const go of held) go()
          held.clear()
        },
      })
    },
    async send(name, count, email = {}) {
      const emails = Array.from({ length: count }, (_, n) => ({
        to: `email${n + 1}@${name}.test`,
        subject: `Number ${n + 1}`,
        text: 'Hello.',
        ...email,
      }))
      await postrider.emails.sendBatch(emails)
    },
    copies: (name) => judge.handOvers.filter(({ taken, recipient }) => taken && recipient.endsWith(`@${name}.test`)),
    records: recordsOf,
    settled: () =>
      untilSettled(database!.db, {
        progress: () => judge.handOvers.length,
        describe: () => [...processes].map((process) => `--- ${process.door.name}\n${process.log()}`).join('\n'),
      }),
    async untilState(name, state, count) {
      await until(`${count} of ${name} are ${state}`, async () => {
        const records = await recordsOf(name)
        return records.filter((record) => record.state === state).length === count
      })
    },
  }
}

/** Freezes or kills a worker between its arm and the first byte of the body. */
export async function reachArmed(fixture: KillFixture, worker: PausedWorker, name: string): Promise<void> {
  const { db } = fixture.database
  await until('a conversation waits for its 354', () => worker.waiting() > 0)
  // The arm is asked for after 354. It waits for this transaction, and the worker is frozen while it does: so the arm is
  // committed, and the worker does not know it yet.
  await db.transaction(async (tx) => {
    await tx.query(`select from postrider.scheduled_actions where state = 'leased' for update`)
    worker.letGo()
    await new Promise((resolve) => setTimeout(resolve, ARM_MS))
    worker.signal('SIGSTOP')
  })
  await fixture.untilState(name, 'armed', 1)
  expect(fixture.judge.handOvers.map(({ reached }) => reached)).toEqual(['go'])
}

/** How long a worker is given to ask for its arm. One that needs longer fails the test, saying so. */
const ARM_MS = 1_000
