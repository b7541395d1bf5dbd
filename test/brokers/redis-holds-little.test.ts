import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Broker } from '../../src/brokers/broker.js'
import { encodeJobId } from '../../src/brokers/job-id.js'
import { openBroker } from '../../src/brokers/open-broker.js'
import { createRelay, type Relay } from '../../src/engine/relay.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import { openKernel, silent } from '../support/kernel.js'
import { type PrivateRedis, startPrivateRedis } from '../support/services/private-redis.js'
import { until } from '../support/until.js'

const HOUR_MS = 3_600_000
/** 2,000 that are due, 2,000 that fell due after they were published ahead, and what a queue has besides jobs. */
const MOST_KEYS = 4_020

/** Nobody consumes here, which is the worst that can happen to the memory of a queue. */
describe('whatever the backlog, Redis', () => {
  const kernel = openKernel('PostgreSQL')
  let server: PrivateRedis
  let redis: Redis
  let broker: Broker
  let relay: Relay
  let lane: string
  beforeEach(async () => {
    server = await startPrivateRedis()
    redis = new Redis(server.url)
    broker = await openBroker(server.url, silent)
    relay = createRelay({
      db: kernel.db,
      broker,
      log: silent,
      sweepMs: 5_000,
      jobIdOf: ({ workspaceId, dedupeKey, position }) => encodeJobId(workspaceId, dedupeKey, position),
    })
    await until('it answers', () => broker.isUp())
    lane = newId()
    await kernel.db.query('insert into postrider.lanes (id, workspace_id, weight, priority) values ($1, $2, 1, 10)', [
      lane,
      DEFAULT_WORKSPACE,
    ])
  })
  afterEach(async () => {
    await relay.stop()
    await broker.close()
    redis.disconnect()
    await server.dispose()
  })

  /** So many actions that fall due between two times from now, evenly. */
  const wait = (count: number, fromMs: number, toMs: number) =>
    kernel.db.query(
      `insert into postrider.scheduled_actions (id, workspace_id, lane_id, type, dedupe_key, run_at, wake_at)
       select gen_random_uuid(), $1, $2, 'note', gen_random_uuid(), at, at
       from (select ${kernel.db.now} + ($4::float8 + n * ($5::float8 - $4::float8) / $3::int) * interval '1 millisecond' as at
             from generate_series(1, $3::int) n) times`,
      [DEFAULT_WORKSPACE, lane, count, fromMs, toMs],
    )
  const memory = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))![1])
  const look = async () => {
    for (let i = 0; i < 4; i++) await relay.runOnce()
    return { keys: await redis.dbsize(), memory: await memory() }
  }

  test('holds the same for a hundred thousand as for some thousands', { timeout: 120_000 }, async () => {
    await kernel.fill(lane, 3_000)
    await wait(5_000, HOUR_MS, 2 * HOUR_MS)
    const few = await look()
    expect(few.keys).toBeGreaterThan(2_000)
    await kernel.fill(lane, 30_000)
    await wait(70_000, HOUR_MS, 2 * HOUR_MS)
    const many = await look()
    process.stdout.write(`Redis with 8,000 and 108,000 waiting: ${JSON.stringify([few, many])}\n`)
    expect(many.keys).toBe(few.keys)
    expect(many.memory).toBeLessThan(few.memory * 1.1)
  })

  test('does not fill up with what falls due faster than it is worked off', { timeout: 120_000 }, async () => {
    await wait(30_000, 0, 300_000)
    const seen: { keys: number; memory: number }[] = []
    for (let i = 0; i < 10; i++) {
      seen.push(await look())
      await kernel.shiftClock(30_000)
    }
    process.stdout.write(`Redis over ten horizons of 3,000: ${JSON.stringify(seen)}\n`)
    expect(seen[0]!.keys).toBeGreaterThan(1_000)
    for (const { keys } of seen) expect(keys).toBeLessThanOrEqual(MOST_KEYS)
    expect(seen.at(-1)!.memory).toBeLessThan(8_000_000)
  })
})
