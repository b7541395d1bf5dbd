import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Broker, Hint, Message } from '../../src/brokers/broker.js'
import { encodeJobId } from '../../src/brokers/job-id.js'
import { openBroker } from '../../src/brokers/open-broker.js'
import { newId } from '../../src/id.js'
import { BROKERS, openNamed } from '../brokers/broker-kinds.js'
import { CARRIERS, privateServer } from '../brokers/storm-servers.js'
import { silent } from '../support/kernel.js'
import { until } from '../support/until.js'

const WORKSPACE = newId()
let position = 0

const newHint = (overrides: Partial<Hint> = {}): Hint => {
  const key = overrides.key ?? `a:key:${++position}`
  const jobId = encodeJobId(WORKSPACE, key, String(++position))
  return { actionId: newId(), key, jobId, type: 'send', rank: 0, delayMs: 0, ...overrides }
}
const newHints = (count: number) => Array.from({ length: count }, () => newHint())
const messageOf = ({ actionId, key }: Hint): Message => ({ actionId, key })

describe.each(BROKERS)('the broker %s', (name) => {
  let broker: Broker
  let dispose: () => Promise<void>
  let woken = 0
  beforeEach(async () => {
    woken = 0
    ;({ broker, dispose } = await openNamed(name, () => woken++))
    await until('it answers', () => broker.isUp())
  })
  afterEach(() => dispose())

  test('is called what it is, and says whether it carries anything', () => {
    expect(broker).toMatchObject({ name, carries: name !== 'postgres' })
  })

  test('takes hints, and whoever works hears of them', async () => {
    const heard: Message[] = []
    broker.consume(10, async (message) => void heard.push(message))
    const hints = newHints(20)
    await broker.publish(hints)
    if (broker.carries) {
      await until('all are heard', () => heard.length === hints.length)
      expect(sorted(heard)).toEqual(sorted(hints.map(messageOf)))
    } else expect(woken).toBe(1)
    expect(await broker.countHeld()).toBe(0)
  })

  test('can be closed without having been used', async () => {
    expect(await broker.countHeld()).toBe(0)
  })
})

describe.each(CARRIERS)('the broker %s, which carries,', (name) => {
  let broker: Broker
  let dispose: () => Promise<void>
  beforeEach(async () => {
    ;({ broker, dispose } = await openNamed(name))
    await until('it answers', () => broker.isUp())
  })
  afterEach(() => dispose())

  test('says how many it holds for whoever comes', async () => {
    await broker.publish(newHints(30))
    await until('all are held', async () => (await broker.countHeld()) === 30)
    let heard = 0
    broker.consume(5, async () => void heard++)
    await until('none is left', async () => heard === 30 && (await broker.countHeld()) === 0)
  })

  test('gives out as many at a time as asked for, and the next when one is acknowledged', async () => {
    const done: (() => void)[] = []
    broker.consume(3, () => new Promise((resolve) => done.push(resolve)))
    await broker.publish(newHints(5))
    await until('three are given out', async () => done.length === 3 && (await broker.countHeld()) === 2)
    done.shift()!()
    await until('one more is', async () => done.length === 3 && (await broker.countHeld()) === 1)
    while ((await broker.countHeld()) > 0 || done.length > 0) {
      done.shift()?.()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })

  test('keeps a hint until its time has come', async () => {
    const heardAt: number[] = []
    broker.consume(10, async () => void heardAt.push(performance.now()))
    const asked = performance.now()
    await broker.publish([newHint({ delayMs: 600 }), newHint({ delayMs: 700 })])
    await until('they came', () => heardAt.length === 2)
    // A timer may be a millisecond early; the claim asks the database again anyway.
    expect(heardAt[0]! - asked).toBeGreaterThan(580)
  })

  test('gives out single emails first, then what plans bulk, then bulk', async () => {
    const ranks = [2, 1, 0, 2, 1, 0] as const
    const hints = ranks.map((rank) => newHint({ rank, type: rank === 1 ? 'batch' : 'send' }))
    await broker.publish(hints)
    await until('all are held', async () => (await broker.countHeld()) === hints.length)
    const heard: string[] = []
    broker.consume(1, async ({ actionId }) => void heard.push(actionId))
    await until('all are heard', () => heard.length === hints.length)
    expect(heard.map((id) => hints.find(({ actionId }) => actionId === id)!.rank)).toEqual([0, 0, 1, 1, 2, 2])
  })

  test('takes an action again that was published before, whatever became of it', async () => {
    const key = 'the:same:key'
    const heard: string[] = []
    broker.consume(1, async ({ actionId }) => {
      heard.push(actionId)
      if (heard.length === 1) throw new Error('this one fails')
    })
    for (let i = 1; i <= 3; i++) {
      await broker.publish([newHint({ key, actionId: `time ${i}` })])
      await until(`time ${i}`, () => heard.includes(`time ${i}`))
    }
  })

  test('brings a message that was not acknowledged again, or lets the sweep notice that it is gone', async () => {
    let first = true
    const heard: string[] = []
    broker.consume(1, async ({ actionId }) => {
      heard.push(actionId)
      if (!first) return
      first = false
      throw new Error('a worker that could not look')
    })
    const hint = newHint()
    await broker.publish([hint])
    await until('it was given out', () => heard.length > 0)
    await until('nothing is left', async () => (await broker.countHeld()) === 0)
    expect(new Set(heard)).toEqual(new Set([hint.actionId]))
  })
})

/** A process that stops must end, whether or not its broker is there to hear of it. */
describe.each(CARRIERS)('with its server away, the broker %s', (name) => {
  test('stops consuming and closes soon, and leaves no timer behind', { timeout: 120_000 }, async () => {
    const server = await privateServer(name)
    try {
      await server.start()
      const timers = () => process.getActiveResourcesInfo().filter((what) => what === 'Timeout').length
      const before = timers()
      const broker = await openBroker(server.url, silent)
      await until('it answers', () => broker.isUp())
      let heard = 0
      broker.consume(5, async () => void heard++)
      await broker.publish(newHints(10))
      await until('all are heard', () => heard === 10)
      await server.kill()
      await until('it is seen to be away', () => !broker.isUp())
      const asked = performance.now()
      await broker.stopConsuming()
      await broker.close()
      expect(performance.now() - asked).toBeLessThan(8_000)
      await until('no timer is left', () => timers() <= before)
    } finally {
      await server.dispose()
    }
  })
})

const sorted = (messages: readonly Message[]) => messages.toSorted((a, b) => a.actionId.localeCompare(b.actionId))
