import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { encodeJobId } from '../../src/brokers/job-id.js'
import { cancelActions } from '../../src/db/cancel-actions.js'
import { pauseLane, resumeLane } from '../../src/db/lanes.js'
import { RETRY_POLICIES } from '../../src/domain/retry.js'
import { createDispatcher, type Dispatcher } from '../../src/engine/dispatcher.js'
import type { HandlerOutcome } from '../../src/engine/handler.js'
import { createRelay, type Relay } from '../../src/engine/relay.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import { newAction, openKernel, silent } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { until } from '../support/until.js'
import { createMemoryBroker, type MemoryBroker } from './memory-broker.js'

const SWEEP_MS = 2_000

describe.each(DATABASE_KINDS)('relays, on %s,', (kind) => {
  const kernel = openKernel(kind)
  let memory: MemoryBroker
  let relays: Relay[]
  let dispatchers: Dispatcher[]
  /** What was handed over, once per time. */
  let handed: string[]
  let outcome: (id: string) => HandlerOutcome
  beforeEach(() => {
    memory = createMemoryBroker()
    relays = []
    dispatchers = []
    handed = []
    outcome = () => ({ kind: 'done' })
  })
  afterEach(async () => {
    await Promise.all(relays.map((relay) => relay.stop()))
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()))
  })

  const newRelay = (broker = memory.connect()) => {
    const relay = createRelay({
      db: kernel.db,
      broker,
      log: silent,
      sweepMs: SWEEP_MS,
      jobIdOf: ({ workspaceId, dedupeKey, position }) => encodeJobId(workspaceId, dedupeKey, position),
    })
    relays.push(relay)
    return relay
  }
  /** A process with a relay and a dispatcher that is told by the broker only. */
  const startWorker = ({ poll = false } = {}) => {
    const broker = memory.connect()
    const relay = newRelay(broker)
    const dispatcher = createDispatcher({
      db: kernel.db,
      policies: RETRY_POLICIES,
      worker: newId(),
      log: silent,
      concurrency: 10,
      leaseMs: 60_000,
      sweepMs: poll ? SWEEP_MS : 3_600_000,
      brokered: () => !poll || relay.carries(),
      onEarly: () => relay.wake(),
      onSettled: (_, { kind }) => kind === 'failed' && relay.onFailed(),
      handlers: {
        note: {
          kind: 'hand-over',
          retryPolicy: 'standard',
          async handOver({ id }, grip) {
            if (!(await grip.arm())) return { kind: 'release' }
            handed.push(id)
            return outcome(id)
          },
        },
      },
    })
    dispatchers.push(dispatcher)
    dispatcher.start()
    relay.start()
    broker.consume(10, ({ actionId }) => dispatcher.offer(actionId))
    return { relay, dispatcher }
  }
  const publishedIds = () => memory.published.map(({ actionId }) => actionId)
  const scheduleMany = async (count: number, laneId = newId()) =>
    (await kernel.schedule(Array.from({ length: count }, () => newAction({ laneId })))).actions.map(({ id }) => id)
  const published = async () =>
    (
      await kernel.db.query<{ published: boolean; job_id: string }>(
        'select published_at is not null as published, job_id from postrider.published_hints',
      )
    ).rows

  test('publish everything that is due exactly once, however many there are', async () => {
    const ids = [...(await scheduleMany(400)), ...(await scheduleMany(300)), ...(await scheduleMany(1))]
    await kernel.fill(newId(), 500)
    const many = [newRelay(), newRelay(), newRelay(), newRelay()]
    await Promise.all(many.map((relay) => relay.runOnce()))
    await Promise.all(many.map((relay) => relay.runOnce()))
    expect(memory.published).toHaveLength(1_201)
    expect(new Set(publishedIds()).size).toBe(1_201)
    expect(new Set(memory.published.map(({ jobId }) => jobId)).size).toBe(1_201)
    expect(new Set(publishedIds())).toEqual(new Set((await kernel.rows()).map(({ id }) => id)))
    expect(publishedIds()).toEqual(expect.arrayContaining(ids))
    expect((await published()).every((row) => row.published && row.job_id !== null)).toBe(true)
    expect(await kernel.count('ready_actions')).toBe(0)
  })

  test('never have more out than a few thousand, whatever the backlog, and let single emails past it', async () => {
    const bulk = newId()
    await kernel.db.query(`insert into postrider.lanes (id, workspace_id, weight, priority) values ($1, $2, 1, 10)`, [
      bulk,
      DEFAULT_WORKSPACE,
    ])
    await kernel.fill(bulk, 6_000)
    const relay = newRelay()
    await relay.runOnce()
    await relay.runOnce()
    expect(memory.published).toHaveLength(2_000)
    const [single] = await scheduleMany(1)
    await relay.runOnce()
    expect(memory.published).toHaveLength(2_001)
    expect(memory.published.at(-1)).toMatchObject({ actionId: single, rank: 0 })
  })

  test('lose nothing when publishing fails, and publish it when it works again', async () => {
    const ids = await scheduleMany(50)
    memory.refuses = true
    const relay = newRelay()
    await relay.runOnce()
    expect(relay.carries()).toBe(false)
    expect(memory.published).toEqual([])
    await until('the hints are back', async () => (await kernel.claim({ limit: 1 })).looked === 1)
    memory.refuses = false
    await relay.runOnce()
    await relay.runOnce()
    expect(relay.carries()).toBe(true)
    expect(new Set(publishedIds()).size).toBe(ids.length - 1)
  })

  test('publish what a relay took that died before it could', async () => {
    const ids = await scheduleMany(30)
    const stuck = { ...memory.connect(), publish: () => new Promise<void>(() => undefined) }
    void newRelay(stuck).runOnce()
    await until('it has taken them', async () => (await kernel.count('published_hints')) === ids.length)
    const other = newRelay()
    await other.runOnce()
    expect(memory.published).toEqual([])
    await kernel.shiftClock(SWEEP_MS + 1)
    await other.runOnce()
    expect(new Set(publishedIds())).toEqual(new Set(ids))
  })

  test('find what the broker lost, and only that, and may sweep as often as they like', async () => {
    const ids = await scheduleMany(100)
    const relay = newRelay()
    await relay.runOnce()
    await until('it holds them', () => memory.held === 100)
    await kernel.shiftClock(60_000)
    await relay.runOnce()
    // It is slow, and has lost nothing.
    expect(memory.published).toHaveLength(100)
    memory.lose()
    await Promise.all([relay.runOnce(), newRelay().runOnce()])
    expect(memory.published).toHaveLength(200)
    expect(new Set(publishedIds().slice(100))).toEqual(new Set(ids))
    const jobs = memory.published.map(({ jobId }) => jobId)
    // Under the same ids, so that a broker that knows them after all has nothing to add.
    expect(new Set(jobs.slice(100))).toEqual(new Set(jobs.slice(0, 100)))
    await until('it holds them again', () => memory.held === 100)
    for (let i = 0; i < 3; i++) await relay.runOnce()
    expect(memory.published).toHaveLength(200)
  })

  test('publish ahead what falls due within the horizon, and nothing that does not', async () => {
    memory = createMemoryBroker({ horizonMs: 10_000 })
    const at = (ms: number) => kernel.one({ runAt: new Date(Date.now() + ms) })
    const [soon, later] = [await at(5_000), await at(60_000)]
    const relay = newRelay()
    await relay.runOnce()
    await relay.runOnce()
    expect(memory.published).toMatchObject([{ actionId: soon }])
    expect(memory.published[0]!.delayMs).toBeGreaterThan(1_000)
    expect(await kernel.row(soon)).toMatchObject({ state: 'pending', wake_at: expect.any(Date) })
    await kernel.shiftClock(55_000)
    await relay.runOnce()
    expect(publishedIds()).toContain(later)
  })

  test('have every action carried out once by workers that are told of everything twice', async () => {
    memory.copies = 2
    startWorker()
    startWorker()
    const ids = (await Promise.all([scheduleMany(120), scheduleMany(120), scheduleMany(10)])).flat()
    relays.forEach((relay) => relay.wake())
    await until('all are done', async () => handed.length >= ids.length && (await kernel.count('leases')) === 0)
    await until('every copy was heard', () => memory.held === 0)
    expect(handed.toSorted()).toEqual(ids.toSorted())
    expect(await kernel.count('published_hints')).toBe(0)
    expect(await kernel.count('ready_actions')).toBe(0)
  })

  test('drop a message whose action was canceled or is held by somebody', async () => {
    const [canceled, taken, open] = await scheduleMany(3)
    await newRelay().runOnce()
    await cancelActions(kernel.db, DEFAULT_WORKSPACE, { ids: [canceled!] }, 'no longer wanted')
    await kernel.db.query(
      `update postrider.scheduled_actions set state = 'leased', lease_token = gen_random_uuid() where id = $1`,
      [taken],
    )
    startWorker()
    await until('all were heard', async () => memory.held === 0 && (await kernel.count('published_hints')) === 0)
    await until('the open one is done', async () => (await kernel.row(open!)).state === 'done')
    expect(handed).toEqual([open])
  })

  test('leave a lane alone that is paused, before and after its hints are out', async () => {
    const lane = newId()
    const [id] = await scheduleMany(1, lane)
    await newRelay().runOnce()
    expect(memory.published).toHaveLength(1)
    await pauseLane(kernel.db, DEFAULT_WORKSPACE, lane)
    const { relay, dispatcher } = startWorker()
    await until('the message was heard', async () => (await kernel.count('published_hints')) === 0)
    await relay.runOnce()
    expect(memory.published).toHaveLength(1)
    expect(handed).toEqual([])
    // Not even claimed, only to be given back.
    expect(dispatcher.counts.claimed).toBe(0)
    await resumeLane(kernel.db, DEFAULT_WORKSPACE, lane)
    relay.wake()
    await until('it is done', () => handed.length === 1)
    expect(handed).toEqual([id])
  })

  test('tell of every action that failed, once', async () => {
    outcome = () => ({ kind: 'failed', reason: { code: 'message', text: '554 no' } })
    const ids = await scheduleMany(20)
    const { relay } = startWorker()
    startWorker()
    await until('all are told of', () => memory.failures.length >= ids.length)
    await relay.runOnce()
    expect(memory.failures.map(({ actionId }) => actionId).toSorted()).toEqual(ids.toSorted())
    expect(memory.failures[0]).toMatchObject({ event: 'action.failed', reason: 'message', attempts: 1, type: 'note' })
  })

  test('let workers look for themselves while the broker is away, for ever if need be', async () => {
    memory.isUp = false
    startWorker({ poll: true })
    const first = await scheduleMany(20)
    await until('sent without it', () => handed.length === first.length)
    memory.isUp = true
    await until('it is used again', () => relays.every((relay) => relay.carries()))
    const second: string[] = []
    // Now and then a worker looks for itself, and may be quicker; but not for ever.
    await until('sent with it', async () => {
      second.push(...(await scheduleMany(1)))
      relays.forEach((relay) => relay.wake())
      return memory.published.length > 0
    })
    // What it was given and cannot tell of comes back when it goes away.
    await until('settled', async () => (await kernel.count('leases')) === 0)
    memory.isUp = false
    const third = await scheduleMany(20)
    await until('sent without it again', () => handed.length === 40 + second.length, { withinMs: 20_000 })
    expect(handed.toSorted()).toEqual([...first, ...second, ...third].toSorted())
  })
})
