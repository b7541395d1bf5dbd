import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createPostrider } from '../../src/index.js'
import type { BuiltPackage } from '../support/build-package.js'
import { watchRescues } from '../support/rescue-watch.js'
import { announcedRandom, type SeededRandom } from '../support/seeded-random.js'
import { openTestDatabase, type TestDatabase } from '../support/test-database.js'
import { until } from '../support/until.js'
import { countUnfinished, createTraces, NOTHING_BROKEN, readWhatHappened, type Traces } from '../support/what-happened.js'
import { buildWorkers, startWorker, type WorkerProcess } from '../support/worker-process.js'
import type { WorkerSettings } from '../support/worker-program.js'

/** What the promise allows between a worker's death and the return of what it held, above its lease. */
const RESCUE_ALLOWANCE_MS = 5_000
const LANES = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]

let built: BuiltPackage
let traces: Traces
const workers = new Set<WorkerProcess>()

beforeAll(async () => {
  built = await buildWorkers()
})
afterAll(() => built.remove())
afterEach(async () => {
  await Promise.all([...workers].map((worker) => worker.kill()))
  workers.clear()
  traces.remove()
})

const start = (settings: WorkerSettings): WorkerProcess => {
  const worker = startWorker(built, settings)
  workers.add(worker)
  return worker
}

/** Every fourth is a hand-over, and every lane gets both. */
const newAction = (n: number) => ({
  type: n % 4 === 0 ? 'hand-over' : 'effect',
  laneId: LANES[Math.floor(n / 4) % LANES.length]!,
  dedupeKey: `action:${n}`,
})
const isEffect = (type: string) => type === 'effect'

describe('killed without warning, again and again', () => {
  test('workers on PostgreSQL lose nothing and repeat nothing', { timeout: 180_000 }, async () => {
    const [ACTIONS, KILLS, WORKERS, CONCURRENCY, LEASE_MS] = [20_000, 200, 4, 10, 2_000]
    const random = announcedRandom('kills on PostgreSQL')
    const database = await openTestDatabase('PostgreSQL')
    traces = await createTraces(database.db)
    const postrider = await createPostrider({ ...database.location, maxConnections: 2 })
    const watch = watchRescues(database.db)
    let seed = random.seed
    const newWorker = () =>
      start({
        location: database.location,
        leaseMs: LEASE_MS,
        sweepMs: 1_000,
        concurrency: CONCURRENCY,
        effectType: 'effect',
        handOverType: 'hand-over',
        outside: traces.outside,
        slowMs: 40,
        seed: seed++,
      })
    const fleet = Array.from({ length: WORKERS }, newWorker)
    const hits = { leased: 0, armed: 0, kills: 0 }

    // Work arrives as the killing goes on, so that every kill finds workers at it however fast the machine is.
    let scheduled = 0
    const scheduleUpTo = async (count: number) => {
      const more = Array.from({ length: Math.max(0, Math.ceil(count) - scheduled) }, (_, i) => newAction(scheduled + i))
      scheduled += more.length
      await postrider.actions.schedule(more)
    }
    for (let kill = 0; kill < KILLS; kill++) {
      await scheduleUpTo(2_000 + ((ACTIONS - 2_000) * kill) / (KILLS - 1))
      await sleep(random.between(20, 250))
      const victim = await until('a worker that works', () => pickReady(fleet, random))
      await victim.kill()
      workers.delete(victim)
      fleet[fleet.indexOf(victim)] = newWorker()
      const held = await watch.noteDeath(victim.pid)
      expect(await victim.exited).toBe('SIGKILL')
      hits.leased += held.leased
      hits.armed += held.armed
      if (held.leased + held.armed > 0) hits.kills++
    }
    await until('everything is over', async () => (await countUnfinished(database.db)) === 0, { withinMs: 60_000 })
    await until('all leases are gone', async () => (await postrider.backlog()).leases === 0)
    await watch.stop()
    for (const worker of fleet) worker.signal('SIGTERM')
    expect(await Promise.all(fleet.map(({ exited }) => exited))).toEqual(fleet.map(() => 0))

    const happened = await readWhatHappened(database.db, traces.outside, isEffect)
    process.stdout.write(`${JSON.stringify({ hits, longestRescueMs: Math.round(watch.longestMs), happened })}\n`)
    await postrider.stop()
    await database.close()

    expect(happened.broken).toEqual(NOTHING_BROKEN)
    expect(happened.effects).toBe((ACTIONS * 3) / 4)
    expect(happened.states).toEqual({ done: ACTIONS - (happened.states.uncertain ?? 0), uncertain: expect.any(Number) })
    expect(happened.states.uncertain).toBeLessThanOrEqual(KILLS * CONCURRENCY)
    expect(watch.orphans).toEqual([])
    expect(watch.longestMs).toBeLessThanOrEqual(LEASE_MS + RESCUE_ALLOWANCE_MS)
    // Otherwise the kills would prove nothing: they must have hit work in every phase.
    expect(hits.kills).toBeGreaterThan(KILLS / 2)
    expect(hits.leased).toBeGreaterThan(KILLS)
    expect(happened.uncertain.handedOver).toBeGreaterThan(0)
    expect(happened.uncertain.not).toBeGreaterThan(0)
  })
})

function pickReady(fleet: readonly WorkerProcess[], random: SeededRandom): WorkerProcess | null {
  const dead = fleet.find(({ isRunning }) => !isRunning)
  if (dead) throw new Error(`A worker ended by itself.\n${dead.log()}`)
  const ready = fleet.filter(({ isReady }) => isReady)
  return ready.length > 0 ? random.pick(ready) : null
}
