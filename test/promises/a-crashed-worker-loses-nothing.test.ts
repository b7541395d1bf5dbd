import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { openDatabase } from '../../src/db/open-database.js'
import { createPostrider, type NewAction } from '../../src/index.js'
import { createLog } from '../../src/log.js'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { watchRescues } from '../support/rescue-watch.js'
import { announcedRandom } from '../support/seeded-random.js'
import { sized } from '../support/sized.js'
import { copyEmbeddedTemplate } from '../support/services/embedded-template.js'
import { type DatabaseKind, openTestDatabase } from '../support/test-database.js'
import { until } from '../support/until.js'
import {
  countUnfinished,
  createTraces,
  NOTHING_BROKEN,
  readLines,
  readWhatHappened,
  untilAllIsOver,
  type WhatHappened,
} from '../support/what-happened.js'
import { startWorker, type WorkerProcess } from '../support/worker-process.js'
import type { WorkerSettings } from '../support/worker-program.js'
import { AIMS, startWorkerFleet } from './worker-fleet.js'

/** What the promise allows between a worker's death and the return of what it held, above its lease. */
const RESCUE_ALLOWANCE_MS = 5_000
const ACTIONS_PER_KILL = 100
const LANES = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]

let built: BuiltPackage
const workers = new Set<WorkerProcess>()
/** What a test has opened, in reverse, also when it failed half-way. */
const closers: (() => unknown)[] = []

beforeAll(async () => {
  built = await buildPackage()
})
afterAll(() => built.remove())
afterEach(async () => {
  await Promise.all([...workers].map((worker) => worker.kill()))
  workers.clear()
  for (const close of closers.splice(0).toReversed()) await close()
})

type Place = Pick<WorkerSettings, 'location' | 'outside'>
const DEFAULTS = { effectType: 'effect', handOverType: 'hand-over', leaseMs: 2_000, sweepMs: 1_000, concurrency: 10 }

const start = (place: Place, settings: Partial<WorkerSettings> & { slowMs: number; seed: number }): WorkerProcess => {
  const worker = startWorker(built, { ...DEFAULTS, ...place, ...settings })
  workers.add(worker)
  return worker
}

/** Every fourth is a hand-over, and every lane gets both. */
const newAction = (n: number): NewAction => ({
  type: n % 4 === 0 ? 'hand-over' : 'effect',
  laneId: LANES[Math.floor(n / 4) % LANES.length]!,
  dedupeKey: `action:${n}`,
})
const newActions = (count: number, from = 0) => Array.from({ length: count }, (_, i) => newAction(from + i))
const isEffect = (type: string) => type === 'effect'

describe('killed without warning, again and again,', () => {
  test('workers on PostgreSQL lose nothing and repeat nothing', { timeout: 1_800_000 }, async () => {
    const kills = sized(24, 200)
    const { happened, hits } = await killWorkers('PostgreSQL', { kills, size: 4, slowMs: 40, freezes: true })
    // Otherwise the kills would prove nothing: they must have hit work in every phase.
    expect(hits.kills).toBeGreaterThan(kills / 2)
    expect(hits.leased).toBeGreaterThan(kills)
    expect(happened.uncertain.handedOver).toBeGreaterThan(kills / 10)
    expect(happened.uncertain.not).toBeGreaterThan(kills / 10)
  })

  test('workers attached to an embedded database lose nothing and repeat nothing', { timeout: 1_800_000 }, async () => {
    const [kind, kills] = ['the embedded database', sized(9, 24)] as const
    const { happened, hits } = await killWorkers(kind, { kills, size: 3, slowMs: 30, freezes: false })
    expect(hits.kills).toBeGreaterThan(kills / 2)
    expect(happened.states.uncertain).toBeGreaterThan(0)
  })

  test('the owner of an embedded database loses nothing and repeats nothing', { timeout: 1_800_000 }, async () => {
    const [ACTIONS, KILLS] = [sized(1_000, 2_000), sized(4, 12)]
    const random = announcedRandom('kills of the owner')
    const copy = copyEmbeddedTemplate(inject('embeddedTemplate'))
    closers.push(copy.remove)
    const location = { dataDirectory: copy.directory }
    const outside = await own(location, async (db) => {
      const traces = await createTraces(db)
      closers.push(traces.remove)
      return traces.outside
    })
    const postrider = await createPostrider(location)
    await postrider.actions.schedule(newActions(ACTIONS))
    await postrider.stop()

    let seed = random.seed
    const live = () => start({ location, outside }, { slowMs: 30, seed: seed++ })
    for (let kill = 0; kill < KILLS; kill++) {
      const owner = live()
      await owner.ready
      const enough = readLines(outside).length + random.between(0, 12)
      await until(`more hand-overs before kill ${kill}`, () => readLines(outside).length >= enough)
      await owner.kill()
      workers.delete(owner)
    }
    // The last owner finishes what is left, then stops in peace.
    const last = live()
    await last.ready
    await own(location, untilAllIsOver)
    last.signal('SIGTERM')
    expect(await last.exited).toBe(0)

    const happened = await own(location, (db) => readWhatHappened(db, outside, isEffect))
    report('owner', happened)
    expectThePromise(happened, ACTIONS, KILLS)
    expect(happened.states.uncertain).toBeGreaterThan(0)
  })
})

describe('asked to stop by SIGTERM,', () => {
  const GATED = { gated: true, leaseMs: 60_000, concurrency: 4, slowMs: 0, seed: 1 }
  const handOver = (n: number, gate?: string) => ({
    type: 'hand-over',
    laneId: LANES[0]!,
    dedupeKey: `stop:${randomUUID()}:${n}`,
    payload: gate ? { gate } : {},
  })

  test('a worker finishes what is armed, gives back the rest at once, and exits with 0', async () => {
    const { db, place, schedule } = await openPlace('PostgreSQL')
    const gates = ['armed', 'armed', 'before arm', 'before arm']
    const actions = await schedule(gates.map((gate, n) => handOver(n, gate)))
    const worker = start(place, GATED)
    await until('two armed and two about to be', () => worker.waiting.size === 4)
    const byGate = (gate: string) =>
      [...worker.waiting]
        .filter(([, at]) => at === gate)
        .map(([id]) => id)
        .toSorted()
    const [armed, unarmed] = [byGate('armed'), byGate('before arm')]
    expect([armed, unarmed]).toEqual([actions.slice(0, 2), actions.slice(2, 4)])
    await schedule(Array.from({ length: 6 }, (_, n) => handOver(n)))
    await until('four more are claimed ahead', async () => (await statesOf(db)).leased === 6)
    expect(await statesOf(db)).toEqual({ armed: 2, leased: 6, pending: 2 })

    worker.signal('SIGTERM')
    // The lease has a minute to run: what is pending now was given back.
    await until('the queue is given back', async () => (await statesOf(db)).pending === 6, { withinMs: 5_000 })
    for (const id of unarmed) worker.open(id)
    await until('so is what was not armed', async () => (await statesOf(db)).pending === 8, { withinMs: 5_000 })
    expect(await statesOf(db)).toEqual({ armed: 2, pending: 8 })
    expect(worker.isRunning).toBe(true)
    for (const id of armed) worker.open(id)
    expect(await worker.exited).toBe(0)

    expect(await statesOf(db)).toEqual({ done: 2, pending: 8 })
    expect(
      readLines(place.outside)
        .map(({ action }) => action)
        .toSorted(),
    ).toEqual(armed)
    const { rows } = await db.query(
      `select (select count(*)::int from postrider.leases) as leases, sum(attempts)::int as attempts,
         sum(rescues)::int as rescues from postrider.scheduled_actions`,
    )
    expect(rows).toEqual([{ leases: 0, attempts: 2, rescues: 0 }])
  })

  test('and asked again, it exits at once and not with 0; what was armed stays armed', async () => {
    const { db, place, schedule } = await openPlace('PostgreSQL')
    await schedule([handOver(0, 'armed')])
    const worker = start(place, GATED)
    await until('armed', () => worker.waiting.size === 1)
    worker.signal('SIGTERM')
    await until('it has heard the first one', () => worker.log().includes('stopping'))
    const asked = performance.now()
    worker.signal('SIGTERM')
    expect(await worker.exited).toBe(1)
    expect(performance.now() - asked).toBeLessThan(2_000)
    expect(await statesOf(db)).toEqual({ armed: 1 })
    expect(readLines(place.outside)).toEqual([])
  })
})

type Db = Awaited<ReturnType<typeof openTestDatabase>>['db']

/** A database, an outside world, and somebody who schedules. */
async function openPlace(kind: Parameters<typeof openTestDatabase>[0]) {
  const database = await openTestDatabase(kind)
  closers.push(() => database.close())
  await database.clear()
  const { db, location } = database
  const traces = await createTraces(db)
  closers.push(traces.remove)
  const postrider = await createPostrider({ ...location, attach: true, maxConnections: 2 })
  closers.push(() => postrider.stop())
  return {
    db,
    place: { location, outside: traces.outside },
    schedule: async (actions: readonly NewAction[]) =>
      (await postrider.actions.schedule(actions)).actions.map(({ id }) => id),
  }
}

interface KillOptions {
  readonly kills: number
  readonly size: number
  readonly slowMs: number
  readonly freezes: boolean
}

/** Kills one worker after the other, in every phase of its work, and holds what happened against the promise. */
async function killWorkers(kind: DatabaseKind, { kills, size, slowMs, freezes }: KillOptions) {
  const random = announcedRandom(`kills on ${kind}`)
  const { db, place, schedule } = await openPlace(kind)
  const watch = watchRescues(db)
  closers.push(() => watch.stop())
  let seed = random.seed
  // Work arrives as the killing goes on, so that every kill finds workers at it however fast or slow the machine is.
  let actions = 0
  const scheduleMore = async () => {
    const more = newActions(ACTIONS_PER_KILL, actions)
    actions += more.length
    await schedule(more)
  }
  const fleet = startWorkerFleet({
    size,
    start: () => start(place, { attach: kind !== 'PostgreSQL', slowMs, seed: seed++ }),
    onDeath: (worker) => workers.delete(worker),
    onWait: async () => void ((await countUnfinished(db)) === 0 && (await scheduleMore())),
    watch,
    outside: place.outside,
    random,
    freezes,
  })
  for (let kill = 0; kill < kills; kill++) {
    await scheduleMore()
    await sleep(random.between(20, 250))
    await fleet.killOne(AIMS[kill % AIMS.length]!)
  }
  await untilAllIsOver(db)
  await until('all leases are gone', async () => (await readWhatHappened(db, place.outside, isEffect)).leases === 0)
  await watch.stop()
  expect(await fleet.stop()).toEqual(Array.from({ length: size }, () => 0))

  const { hits } = fleet
  const happened = await readWhatHappened(db, place.outside, isEffect)
  report(kind, { hits, longestRescueMs: Math.round(watch.longestMs), ...happened })
  expectThePromise(happened, actions, kills)
  expect(watch.orphans).toEqual([])
  expect(watch.longestMs).toBeLessThanOrEqual(DEFAULTS.leaseMs + RESCUE_ALLOWANCE_MS)
  return { happened, hits }
}

/** Looks into a data directory: through its owner if it has one, else by owning it for a moment. */
async function own<T>(location: { dataDirectory: string }, look: (db: Db) => Promise<T>): Promise<T> {
  const opened = await openDatabase({ databaseUrl: null, ...location, attach: true, log: createLog('silent') })
  try {
    return await look(opened.db)
  } finally {
    await opened.close()
  }
}

function expectThePromise(happened: WhatHappened, actions: number, kills: number): void {
  expect(happened.broken).toEqual(NOTHING_BROKEN)
  expect(happened.effects).toBe((actions * 3) / 4)
  const uncertain = happened.states.uncertain ?? 0
  expect(uncertain).toBeLessThanOrEqual(kills * DEFAULTS.concurrency)
  expect(happened.states).toEqual({ done: actions - uncertain, ...(uncertain > 0 && { uncertain }) })
  // A line for every hand-over that is done, and for the uncertain ones that got that far.
  expect(happened.handOvers).toBe(actions / 4 - happened.uncertain.not)
}

async function statesOf(db: Db): Promise<Record<string, number>> {
  const { rows } = await db.query<{ state: string; count: number }>(
    'select state, count(*)::int as count from postrider.scheduled_actions group by state',
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

function report(what: string, measured: object): void {
  process.stdout.write(`${what}: ${JSON.stringify(measured)}\n`)
}
