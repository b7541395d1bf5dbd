import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect, type Database } from '../../src/db/client.js'
import { createPostrider, type NewAction, type Postrider } from '../../src/index.js'
import { createLog } from '../../src/log.js'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { announcedRandom, type SeededRandom } from '../support/seeded-random.js'
import { type PrivatePostgres, startPrivatePostgres } from '../support/services/private-postgres.js'
import { until } from '../support/until.js'
import {
  createTraces,
  NOTHING_BROKEN,
  readLines,
  readWhatHappened,
  untilAllIsOver,
  type Traces,
} from '../support/what-happened.js'
import { startWorker, type WorkerProcess } from '../support/worker-process.js'
import type { Gate, WorkerSettings } from '../support/worker-program.js'

/** A server of its own that these tests may mistreat, with few connections so that it is soon full. */
const MAX_CONNECTIONS = 40
const WORKERS = 3
const LEASE_MS = 3_000

let built: BuiltPackage
let postgres: PrivatePostgres
let db: Database
let postrider: Postrider
let traces: Traces
const workers: WorkerProcess[] = []

beforeAll(async () => {
  built = await buildPackage()
  postgres = await startPrivatePostgres({ max_connections: String(MAX_CONNECTIONS) })
  const location = { databaseUrl: postgres.url, maxConnections: 2, log: createLog('silent') }
  postrider = await createPostrider(location)
  db = connect({ connection: { connectionString: postgres.url }, maxConnections: 2 })
})
afterAll(async () => {
  await postrider.stop()
  await db.close()
  await postgres.dispose()
  built.remove()
})
beforeEach(async () => {
  await db.query('truncate postrider.scheduled_actions, postrider.ready_actions, postrider.leases')
  traces = await createTraces(db)
})
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.kill()))
  // A test that failed while the server was down must not take the others with it.
  await postgres.start().catch(() => undefined)
  traces.remove()
})

const start = (settings: Partial<WorkerSettings> = {}): WorkerProcess => {
  const worker = startWorker(built, {
    location: { databaseUrl: postgres.url },
    leaseMs: LEASE_MS,
    sweepMs: 1_000,
    concurrency: 8,
    maxConnections: 6,
    effectType: 'effect',
    handOverType: 'hand-over',
    outside: traces.outside,
    slowMs: 30,
    seed: workers.length,
    ...settings,
  })
  workers.push(worker)
  return worker
}

const LANES = [randomUUID(), randomUUID(), randomUUID()]
const newAction = (n: number): NewAction => ({
  type: n % 4 === 0 ? 'hand-over' : 'effect',
  laneId: LANES[n % LANES.length]!,
  dedupeKey: `action:${n}`,
})
const isEffect = (type: string) => type === 'effect'

test(
  'restarts, cut connections and a full server: everything still happens, once, unattended',
  {
    timeout: 300_000,
  },
  async () => {
    const random = announcedRandom('chaos')
    const fleet = Array.from({ length: WORKERS }, () => start({ seed: Math.floor(random.next() * 1e9) }))
    await Promise.all(fleet.map(({ ready }) => ready))
    const scheduler = startScheduler(20)
    const chaos = [
      () => restart(random),
      () => cutConnections(random),
      () => fillUp(),
      () => restart(random),
      () => cutConnections(random),
      () => restart(random),
    ]
    for (const strike of chaos) {
      const before = scheduler.accepted.size
      await strike()
      await until('scheduling works again', () => scheduler.accepted.size > before + 100)
      expectAllAlive(fleet)
    }
    const { accepted, refusals } = await scheduler.stop()
    await untilAllIsOver(db)
    for (const worker of fleet) worker.signal('SIGTERM')
    expect(await Promise.all(fleet.map(({ exited }) => exited))).toEqual(fleet.map(() => 0))

    const happened = await readWhatHappened(db, traces.outside, isEffect)
    report('chaos', { refusals, ...happened })
    expect(happened.broken).toEqual(NOTHING_BROKEN)
    // Nobody was killed, and whoever lost the database brought the answer later: nothing is left uncertain.
    expect(happened.states).toEqual({ done: accepted.size })
    expect(await idsByKey()).toEqual(accepted)
    expect(refusals).toBeGreaterThan(0)
  },
)

test('while the database is away a worker is patient: little processor time, few knocks at the door', async () => {
  const fleet = Array.from({ length: WORKERS }, () => start({ slowMs: 200 }))
  await Promise.all(fleet.map(({ ready }) => ready))
  await postrider.actions.schedule(Array.from({ length: 2_000 }, (_, n) => newAction(n)))
  await until('all are at work', async () => (await countLeased()) >= WORKERS * 8)

  await postgres.stop('immediate')
  const door = await listenAt(Number(new URL(postgres.url).port))
  // The first second is the work that was under way noticing the loss.
  await sleep(1_000)
  const [began, cpuBefore, knocksBefore] = [performance.now(), fleet.map((worker) => worker.cpuMs()), door.knocks()]
  await sleep(5_000)
  // A busy machine may have slept longer.
  const tookMs = performance.now() - began
  const cpu = fleet.map((worker, i) => (worker.cpuMs() - cpuBefore[i]!) / tookMs)
  const knocksPerSecond = (door.knocks() - knocksBefore) / (tookMs / 1_000) / WORKERS
  await door.close()
  report('away', { cpu, knocksPerSecondAndWorker: knocksPerSecond })
  expect(Math.max(...cpu)).toBeLessThan(0.2)
  // Each of the eight actions under way asks four times a second whether its outcome can be written, and the loops less.
  expect(knocksPerSecond).toBeLessThan(8 * 4 + 10)
  expect(knocksPerSecond).toBeGreaterThan(0)

  await postgres.start()
  await untilAllIsOver(db)
  const happened = await readWhatHappened(db, traces.outside, isEffect)
  expect(happened.broken).toEqual(NOTHING_BROKEN)
  expect(happened.states).toEqual({ done: 2_000 })
}, 300_000)

test('asked to stop while the database is away, a worker ends, and what it held comes back', async () => {
  const worker = start({ slowMs: 200 })
  await worker.ready
  await postrider.actions.schedule(Array.from({ length: 40 }, (_, n) => newAction(n)))
  await until('it is at work', async () => (await countLeased()) >= 8)
  await postgres.stop('immediate')
  worker.signal('SIGTERM')
  // It hopes for half a minute that the database returns and its outcomes can be written.
  expect(await Promise.race([worker.exited, sleep(90_000, 'still running', { ref: false })])).toBe(0)
  await postgres.start()
  start()
  await untilAllIsOver(db)
  const happened = await readWhatHappened(db, traces.outside, isEffect)
  expect(happened.broken).toEqual(NOTHING_BROKEN)
}, 300_000)

describe('a worker that was frozen beyond its lease and wakes up', () => {
  const frozenAt = async (gate: Gate) => {
    const revenant = start({ gated: true, slowMs: 0 })
    await revenant.ready
    const type = gate === 'in effect' ? 'effect' : 'hand-over'
    const { actions } = await postrider.actions.schedule({
      type,
      laneId: LANES[0]!,
      dedupeKey: gate,
      payload: { gate },
    })
    const { id } = actions[0]!
    await until(`it is ${gate}`, () => revenant.waiting.has(id))
    revenant.signal('SIGSTOP')
    return { revenant, id }
  }
  /** Lets it go on, and see to its end what it was doing. */
  const thaw = async (revenant: WorkerProcess, id: string) => {
    revenant.signal('SIGCONT')
    revenant.open(id)
    revenant.signal('SIGTERM')
    const ended = await Promise.race([revenant.exited, sleep(45_000, 'still running', { ref: false })])
    expect(ended, revenant.log()).toBe(0)
  }

  test('before arming hands nothing over: somebody else has done it', async () => {
    const { revenant, id } = await frozenAt('before arm')
    const other = start()
    await until('somebody else has done it', async () => (await postrider.actions.find(id))?.state === 'done')
    await thaw(revenant, id)
    expect(readLines(traces.outside).map(({ action, pid }) => [action, pid])).toEqual([[id, other.pid]])
    expect(await postrider.actions.find(id)).toMatchObject({ state: 'done', attempts: 1, rescues: 1 })
  })

  test('after arming and before the first byte sends nothing, says so, and it is done by another', async () => {
    const { revenant, id } = await frozenAt('armed')
    const other = start()
    await until('it is uncertain', async () => (await postrider.actions.find(id))?.state === 'uncertain')
    expect(readLines(traces.outside)).toEqual([])
    // What it gives back it may well claim again itself, before it hears that it should stop, and wait at its gate for ever.
    await postrider.lanes.pause(LANES[0]!)
    await thaw(revenant, id)
    expect(await postrider.actions.find(id)).toMatchObject({ state: 'pending' })
    await postrider.lanes.resume(LANES[0]!)
    await until('somebody else has done it', async () => (await postrider.actions.find(id))?.state === 'done')
    expect(readLines(traces.outside).map(({ action, pid }) => [action, pid])).toEqual([[id, other.pid]])
  })

  test('inside the transaction of an effect has no effect a second time', async () => {
    const { revenant, id } = await frozenAt('in effect')
    start()
    await sleep(LEASE_MS + 2_000)
    await thaw(revenant, id)
    await until('it is done', async () => (await postrider.actions.find(id))?.state === 'done')
    const happened = await readWhatHappened(db, traces.outside, isEffect)
    expect(happened.broken).toEqual(NOTHING_BROKEN)
    expect(happened.effects).toBe(1)
  })

  test('holds up neither the rescue of others nor the end of others, by what it has locked', async () => {
    const { revenant, id } = await frozenAt('in effect')
    const dying = start({ gated: true, slowMs: 0 })
    await dying.ready
    const { actions } = await postrider.actions.schedule({
      type: 'hand-over',
      laneId: LANES[0]!,
      dedupeKey: 'of the dying',
      payload: { gate: 'before arm' },
    })
    await until('the dying one has it', () => dying.waiting.has(actions[0]!.id))
    await dying.kill()
    // Both leases have run out when somebody comes to look.
    await sleep(LEASE_MS + 500)
    const healthy = start()
    await healthy.ready
    await until('it is rescued and done', async () => (await postrider.actions.find(actions[0]!.id))?.state === 'done')
    healthy.signal('SIGTERM')
    // Were it kept by what is locked, it would hope for half a minute.
    expect(await Promise.race([healthy.exited, sleep(20_000, 'still running', { ref: false })])).toBe(0)
    // All that while the other was frozen with its row locked.
    expect(revenant.isRunning).toBe(true)
    expect(await postrider.actions.find(id)).toMatchObject({ state: 'leased' })
  })
})

/** Schedules without end; a batch that is refused is asked for again under the same keys. */
function startScheduler(size: number) {
  const accepted = new Map<string, string>()
  let refusals = 0
  let stopping = false
  const running = (async () => {
    for (let n = 0; !stopping; n += size) {
      const batch = Array.from({ length: size }, (_, i) => newAction(n + i))
      for (;;) {
        try {
          const { actions } = await postrider.actions.schedule(batch)
          for (const { id, dedupeKey } of actions) accepted.set(dedupeKey, id)
          break
        } catch {
          refusals++
          await sleep(50)
        }
      }
      await sleep(60)
    }
  })()
  return {
    accepted,
    async stop() {
      stopping = true
      await running
      return { accepted, refusals }
    },
  }
}

function expectAllAlive(fleet: readonly WorkerProcess[]): void {
  const dead = fleet.find(({ isRunning }) => !isRunning)
  if (dead) throw new Error(`A worker ended by itself.\n${dead.log()}`)
}

async function restart(random: SeededRandom): Promise<void> {
  await postgres.stop('immediate')
  await sleep(random.between(100, 1_500))
  await postgres.start()
}

/** Cuts a few connections at a time, whatever they are doing. */
async function cutConnections(random: SeededRandom): Promise<void> {
  const admin = await connectAdmin()
  for (let cut = 0; cut < 20; cut++) {
    await admin.query(
      `select pg_terminate_backend(pid) from (
         select pid from pg_stat_activity where application_name like 'postrider%' order by random() limit $1) unlucky`,
      [Math.ceil(random.between(0, 4))],
    )
    await sleep(random.between(20, 200))
  }
  await admin.end()
}

/** Takes every connection there is for three seconds, also those the workers had. */
async function fillUp(): Promise<void> {
  const admin = await connectAdmin()
  const hogs: pg.Client[] = []
  const hog = async () => {
    const client = new pg.Client({ connectionString: postgres.url, application_name: 'hog' })
    client.on('error', () => undefined)
    try {
      await client.connect()
      hogs.push(client)
      return true
    } catch (error) {
      expect((error as { code?: string }).code).toBe('53300')
      await client.end().catch(() => undefined)
      return false
    }
  }
  const until = performance.now() + 3_000
  while (performance.now() < until) {
    while (await hog());
    await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'postrider%'`)
  }
  expect(hogs.length).toBeGreaterThan(MAX_CONNECTIONS / 2)
  await Promise.all(hogs.map((client) => client.end()))
  await admin.end()
}

async function connectAdmin(): Promise<pg.Client> {
  const admin = new pg.Client({ connectionString: postgres.url, application_name: 'admin' })
  await admin.connect()
  return admin
}

/** Stands where the server was, counts who knocks, and shows everybody out. */
async function listenAt(port: number): Promise<{ knocks(): number; close(): Promise<void> }> {
  let knocks = 0
  const server = createServer((socket) => {
    knocks++
    socket.on('error', () => undefined)
    socket.destroy()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return { knocks: () => knocks, close: () => new Promise((resolve) => server.close(() => resolve())) }
}

async function countLeased(): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from postrider.scheduled_actions where state in ('leased', 'armed')`,
  )
  return rows[0]!.count
}

async function idsByKey(): Promise<Map<string, string>> {
  const { rows } = await db.query<{ dedupe_key: string; id: string }>(
    `select dedupe_key, id from postrider.scheduled_actions`,
  )
  return new Map(rows.map(({ dedupe_key, id }) => [dedupe_key, id]))
}

function report(what: string, measured: object): void {
  process.stdout.write(`${what}: ${JSON.stringify(measured)}\n`)
}
