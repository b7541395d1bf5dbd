import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FIRST_LANE } from '../../src/db/claim-actions.js'
import { configureLane } from '../../src/db/lanes.js'
import { BULK_LANE, DEFAULT_LANE } from '../../src/domain/lane.js'
import { RETRY_POLICIES } from '../../src/domain/retry.js'
import { createDispatcher } from '../../src/engine/dispatcher.js'
import type { Grip } from '../../src/engine/handler.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import { type Held, newAction, openKernel, type Row, silent, until } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const kernel = openKernel(kind)
  const weigh = (laneId: string, weight: number, priority = 0) =>
    configureLane(kernel.db, DEFAULT_WORKSPACE, laneId, { weight, priority })

  const tally = (claim: Held) => {
    const counts = new Map<string, number>()
    for (const { laneId } of claim.actions) counts.set(laneId, (counts.get(laneId) ?? 0) + 1)
    return counts
  }

  /** Claims one after the other, each beginning where the one before ended. */
  const claimTimes = async (times: number, limit: number) => {
    const tallies: Map<string, number>[] = []
    for (let cursor = FIRST_LANE; tallies.length < times;) {
      const claim = await kernel.claim({ limit, cursor })
      cursor = claim.cursor
      tallies.push(tally(claim))
    }
    return tallies
  }

  /** One at a time, so that the order it writes down is the order of the claims. */
  const createWorker = (order: string[]) =>
    createDispatcher({
      db: kernel.db,
      log: silent,
      policies: RETRY_POLICIES,
      worker: 'worker',
      concurrency: 1,
      leaseMs: 60_000,
      handlers: {
        note: { kind: 'effect', retryPolicy: 'standard', apply: async ({ laneId }) => void order.push(laneId) },
      },
    })

  it('does not delay a lane with one action beyond the next claim, however much another has', async () => {
    const [large, small] = [newId(), newId()]
    await kernel.fill(large, 100_000)
    let { cursor } = await kernel.claim({ limit: 100 })
    for (const settings of [DEFAULT_LANE, BULK_LANE]) {
      await configureLane(kernel.db, DEFAULT_WORKSPACE, small, settings)
      const id = await kernel.one({ laneId: small })
      const claim = await kernel.claim({ limit: 100, cursor })
      cursor = claim.cursor
      expect(claim.ids).toContain(id)
      // And the large lane is not made to wait in turn.
      expect(tally(claim).get(large)).toBeGreaterThanOrEqual(50)
    }
  }, 120_000)

  it('gives two lanes of one weight the same, over any stretch of claims', async () => {
    const lanes = [newId(), newId()]
    for (const laneId of lanes) await kernel.fill(laneId, 1_000)
    const tallies = await claimTimes(12, 51)
    for (const counts of tallies) expect([counts.get(lanes[0]!), counts.get(lanes[1]!)]).toEqual([25, 25])
  })

  it('gives two lanes the same also where one was cut elsewhere: what is left of a hint keeps its place', async () => {
    const lanes = [newId(), newId()]
    await kernel.fill(lanes[0]!, 1_000)
    await kernel.claim({ limit: 130 })
    await kernel.fill(lanes[1]!, 1_000)
    // Past the end of a hint by a little, again and again, so that what is left of one differs between the two.
    for (const limit of [350, 90, 350, 210, 470]) {
      const counts = tally(await kernel.claim({ limit }))
      expect([counts.get(lanes[0]!), counts.get(lanes[1]!)]).toEqual([limit / 2, limit / 2])
    }
  })

  it('shares by weight, within one per claim', async () => {
    const [heavy, light] = [newId(), newId()]
    await weigh(heavy, 3)
    await weigh(light, 1)
    for (const laneId of [heavy, light]) await kernel.fill(laneId, 1_000)
    for (const counts of await claimTimes(10, 40)) {
      expect(Math.abs(counts.get(heavy)! - 30)).toBeLessThanOrEqual(1)
      expect(Math.abs(counts.get(light)! - 10)).toBeLessThanOrEqual(1)
    }
  })

  it('serves every one of 40 lanes within a rotation of claims of 10', async () => {
    const lanes = Array.from({ length: 40 }, () => newId())
    for (const laneId of lanes) await kernel.fill(laneId, 20)
    const tallies = await claimTimes(8, 10)
    for (const rotation of [tallies.slice(0, 4), tallies.slice(4)]) {
      const served = rotation.flatMap((counts) => [...counts.keys()])
      expect(served.toSorted()).toEqual(lanes.toSorted())
    }
  })

  it('starves no lane beside a heavy one, even when a round has no more than one for each', async () => {
    const lanes = Array.from({ length: 10 }, () => newId())
    for (const [i, laneId] of lanes.entries()) {
      await weigh(laneId, i === 9 ? 1_000 : 1, i % 3)
      await kernel.fill(laneId, 50)
    }
    for (const limit of [10, 12, 15])
      for (const counts of await claimTimes(2, limit)) expect([...counts.keys()].toSorted()).toEqual(lanes.toSorted())
  })

  it('begins with single emails and goes on with bulk, whoever was due first', async () => {
    const [bulk, single] = [newId(), newId()]
    await configureLane(kernel.db, DEFAULT_WORKSPACE, bulk, BULK_LANE)
    await kernel.fill(bulk, 10)
    await kernel.fill(single, 10)
    const order: string[] = []
    const dispatcher = createWorker(order)
    const claim = await kernel.claim({ limit: 4 })
    const priorities = Object.fromEntries(claim.actions.map(({ laneId, priority }) => [laneId, priority]))
    expect(priorities).toEqual({ [bulk]: BULK_LANE.priority, [single]: DEFAULT_LANE.priority })
    await dispatcher.drain()
    expect(order).toHaveLength(20 - claim.actions.length)
    // The dispatcher holds what it claims in order of priority: the first it begins is a single email.
    expect(order[0]).toBe(single)
    expect(order.lastIndexOf(single)).toBeLessThan(order.lastIndexOf(bulk))
  })

  it('takes turns also with what falls due while a worker has nothing else to do', async () => {
    const lanes = [newId(), newId()]
    const dueAt = Date.now() + 2_000
    // All of the first lane falls due before the first of the other, and is more than a worker has room for.
    await kernel.schedule(
      [...Array(120).keys()].map((i) =>
        newAction({ laneId: lanes[Number(i >= 60)]!, runAt: new Date(dueAt + Number(i >= 60)) }),
      ),
    )
    const order: string[] = []
    const dispatcher = createWorker(order)
    onTestFinished(() => dispatcher.stop())
    dispatcher.start()
    await until('all are done', () => order.length === 120)
    // Without turns the second lane would begin with the sixty-first.
    expect(order.indexOf(lanes[1]!)).toBeLessThan(20)
    const half = order.slice(0, 60).filter((lane) => lane === lanes[0]).length
    expect(half).toBeLessThan(45)
  })

  describe('with a worker that has begun much and ended nothing', () => {
    // It holds as much again as it does at once, and less than a quarter of both is too little room to be worth a claim.
    const CONCURRENCY = 50
    const HOLDS = 100
    const TOO_LITTLE = 20

    const startStuckWorker = () => {
      let goOn!: () => void
      const gate = new Promise<void>((resolve) => (goOn = resolve))
      const handOver = async (_: unknown, grip: Grip) => {
        await gate
        return (await grip.arm()) ? { kind: 'done' as const } : { kind: 'release' as const }
      }
      const dispatcher = createDispatcher({
        db: kernel.db,
        log: silent,
        policies: RETRY_POLICIES,
        worker: 'worker',
        concurrency: CONCURRENCY,
        leaseMs: 60_000,
        leadMs: 0,
        handlers: { note: { kind: 'hand-over', retryPolicy: 'standard', handOver } },
      })
      onTestFinished(() => {
        goOn()
        return dispatcher.stop()
      })
      dispatcher.start()
      return { goOn }
    }

    const due = (laneId: string, count: number, runAt: Date) =>
      kernel.schedule(Array.from({ length: count }, () => newAction({ laneId, runAt })))
    /** Of each lane, how many are leased, and how many wait and have no hint. */
    const look = async (...lanes: string[]) => {
      const rows = await kernel.rows()
      const of = (lane: string, holds: (row: Row) => boolean) =>
        rows.filter((row) => row.lane_id === lane && holds(row)).length
      return lanes.map((lane) => ({
        leased: of(lane, ({ state }) => state === 'leased'),
        waiting: of(lane, ({ wake_at }) => wake_at !== null),
      }))
    }
    const allDone = async () => (await kernel.rows()).every(({ state }) => state === 'done')

    it('leaves the rest of a burst that is more than one claim to turns', async () => {
      const [first, second] = [newId(), newId()]
      const dueAt = Date.now() + 1_500
      await due(first, HOLDS, new Date(dueAt))
      await due(second, HOLDS, new Date(dueAt + 1))
      const { goOn } = startStuckWorker()
      await until('nothing waits any more', async () =>
        (await look(first, second)).every(({ waiting }) => waiting === 0),
      )
      await until('it holds all it can', async () => {
        const held = (await look(first, second)).reduce((sum, { leased }) => sum + leased, 0)
        return held > HOLDS - CONCURRENCY / 2
      })
      // One after the other, the first would have had all of it.
      expect((await look(second))[0]!.leased).toBeGreaterThan(0)
      goOn()
      await until('all are done', allDone)
    })

    it('leaves what falls due while there is too little room to turns', async () => {
      const [before, first, second] = [newId(), newId(), newId()]
      await kernel.fill(before, HOLDS - TOO_LITTLE)
      const { goOn } = startStuckWorker()
      await until('it is busy', async () => (await look(before))[0]!.leased === HOLDS - TOO_LITTLE)
      const dueAt = Date.now() + 200
      await due(first, TOO_LITTLE, new Date(dueAt))
      await due(second, TOO_LITTLE, new Date(dueAt + 1))
      const nothing = { leased: 0, waiting: 0 }
      await until('nothing waits any more', async () =>
        (await look(first, second)).every(({ waiting }) => waiting === 0),
      )
      expect(await look(first, second)).toEqual([nothing, nothing])
      goOn()
      await until('all are done', allDone)
    })
  })

  it('loses nothing, gives nothing twice and serves every lane once per rotation, for any lanes', async () => {
    const lane = fc.record({
      weight: fc.integer({ min: 1, max: 1_000 }),
      priority: fc.integer({ min: 0, max: 3 }),
      backlog: fc.integer({ min: 1, max: 150 }),
    })
    const worlds = fc.record({
      lanes: fc.array(lane, { minLength: 1, maxLength: 8 }),
      limit: fc.integer({ min: 3, max: 120 }),
    })
    const holds = async ({ lanes, limit }: typeof worlds extends fc.Arbitrary<infer World> ? World : never) => {
      await kernel.clear()
      const left = new Map<string, number>()
      for (const { weight, priority, backlog } of lanes) {
        const laneId = newId()
        left.set(laneId, backlog)
        await weigh(laneId, weight, priority)
        await kernel.fill(laneId, backlog)
      }
      const total = lanes.reduce((sum, { backlog }) => sum + backlog, 0)
      const seen = new Set<string>()
      for (let cursor = FIRST_LANE; seen.size < total;) {
        const waiting = new Set([...left].filter(([, count]) => count > 0).map(([laneId]) => laneId))
        const rotation = Math.ceil(waiting.size / limit)
        for (let i = 0; i < rotation; i++) {
          const claim = await kernel.claim({ limit, cursor })
          cursor = claim.cursor
          expect(claim.ids.length).toBeLessThanOrEqual(limit)
          for (const { id, laneId } of claim.actions) {
            expect(seen.has(id)).toBe(false)
            seen.add(id)
            waiting.delete(laneId)
            left.set(laneId, left.get(laneId)! - 1)
          }
        }
        expect([...waiting]).toEqual([])
      }
      expect(await kernel.count('ready_actions')).toBe(0)
    }
    const numRuns = kind === 'PostgreSQL' ? 15 : 4
    await fc.assert(fc.asyncProperty(worlds, holds), { numRuns, interruptAfterTimeLimit: 30_000 })
  })
})
