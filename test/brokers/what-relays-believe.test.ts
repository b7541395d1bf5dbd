import { beforeEach, describe, expect, test } from 'vitest'
import { encodeJobId } from '../../src/brokers/job-id.js'
import { createRelay, type Swept } from '../../src/engine/relay.js'
import { newId } from '../../src/id.js'
import { newAction, openKernel, silent } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { until } from '../support/until.js'
import { createMemoryBroker, type MemoryBroker } from './memory-broker.js'

const SWEEP_MS = 2_000
const LONG_MS = 60_000

/** Relays that are made to look once at a time: what they take for lost, and when they believe that a broker is back. */
describe.each(DATABASE_KINDS)('on %s, a relay', (kind) => {
  const kernel = openKernel(kind)
  let memory: MemoryBroker
  let swept: { lost: number; unclaimed: number; unpublished: number }
  beforeEach(() => {
    memory = createMemoryBroker()
    swept = { lost: 0, unclaimed: 0, unpublished: 0 }
  })

  const newRelay = (broker = memory.connect()) =>
    createRelay({
      db: kernel.db,
      broker,
      log: silent,
      sweepMs: SWEEP_MS,
      jobIdOf: ({ workspaceId, dedupeKey, position }) => encodeJobId(workspaceId, dedupeKey, position),
      onSwept(found: Swept) {
        swept.lost += found.lost
        swept.unclaimed += found.unclaimed
        swept.unpublished += found.unpublished
      },
    })
  const schedule = (count: number) => {
    const laneId = newId()
    return kernel.schedule(Array.from({ length: count }, () => newAction({ laneId })))
  }
  /** Published, held by the broker, and old. */
  const publishAndWait = async (count: number) => {
    const before = memory.held
    await schedule(count)
    const relay = newRelay()
    await relay.runOnce()
    await until('it holds them', () => memory.held === before + count)
    await kernel.shiftClock(LONG_MS)
    return relay
  }

  test('calls lost what the broker has lost', async () => {
    const relay = await publishAndWait(100)
    memory.lose()
    await relay.runOnce()
    expect(swept).toEqual({ lost: 100, unclaimed: 0, unpublished: 0 })
  })

  test('does not call lost what slow workers were given and have not claimed, and tells of it again', async () => {
    const relay = await publishAndWait(100)
    let heard = 0
    const never = new Promise<void>(() => undefined)
    memory.connect().consume(30, () => {
      heard++
      return never
    })
    await until('they have it', () => heard === 30)
    await relay.runOnce()
    expect(swept).toEqual({ lost: 0, unclaimed: 30, unpublished: 0 })
    expect(memory.published).toHaveLength(130)
  })

  test('calls lost only what is more than workers can have', async () => {
    const relay = await publishAndWait(100)
    const never = new Promise<void>(() => undefined)
    memory.connect().consume(30, () => never)
    await until('they have it', () => memory.held === 70)
    memory.lose()
    await relay.runOnce()
    expect(swept).toEqual({ lost: 70, unclaimed: 30, unpublished: 0 })
  })

  test('does not call lost what others publish while the broker answers', async () => {
    await publishAndWait(100)
    const other = newRelay()
    const slow = memory.connect()
    const relay = newRelay({
      ...slow,
      async countHeld() {
        const held = await slow.countHeld()
        await schedule(50)
        await other.runOnce()
        return held
      },
    })
    await relay.runOnce()
    expect(swept).toEqual({ lost: 0, unclaimed: 0, unpublished: 0 })
    expect(memory.published).toHaveLength(150)
  })

  test('uses a broker again that refused, went away and came back with nothing to be told', async () => {
    const relay = newRelay()
    await relay.runOnce()
    expect(relay.carries()).toBe(true)
    await schedule(10)
    memory.refuses = true
    await relay.runOnce()
    expect(relay.carries()).toBe(false)
    // Workers looked for themselves meanwhile, and nothing is left.
    expect((await kernel.claimAll()).length).toBe(10)
    memory.isUp = false
    await relay.runOnce()
    memory.isUp = true
    memory.refuses = false
    await relay.runOnce()
    expect(memory.published).toEqual([])
    expect(relay.carries()).toBe(true)
  })

  test('does not believe a broker that still answers before it has taken something', async () => {
    const relay = newRelay()
    await relay.runOnce()
    await schedule(10)
    memory.refuses = true
    await relay.runOnce()
    await kernel.claimAll()
    memory.refuses = false
    await relay.runOnce()
    expect(relay.carries()).toBe(false)
    await schedule(1)
    await relay.runOnce()
    expect(relay.carries()).toBe(true)
  })
})
