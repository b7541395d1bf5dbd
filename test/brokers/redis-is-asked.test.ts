import { Queue } from 'bullmq'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Broker, Hint } from '../../src/brokers/broker.js'
import { encodeJobId } from '../../src/brokers/job-id.js'
import { parseBrokerUrl, queueName, SEND_QUEUE } from '../../src/brokers/parse-broker-url.js'
import { createRelay } from '../../src/engine/relay.js'
import { newId } from '../../src/id.js'
import { newAction, openKernel, silent } from '../support/kernel.js'
import { until } from '../support/until.js'
import { openNamed } from './broker-kinds.js'

/** A count would not do: copies nobody needs would hide as many that are lost. */
describe('asked by name, Redis', () => {
  const kernel = openKernel('PostgreSQL')
  let broker: Broker
  let queue: Queue
  let dispose: () => Promise<void>
  beforeEach(async () => {
    const opened = await openNamed('bullmq')
    const { url, prefix } = parseBrokerUrl(opened.url!)
    broker = opened.broker
    queue = new Queue(queueName(prefix, SEND_QUEUE), { connection: { url }, prefix: 'postrider' })
    dispose = opened.dispose
    await until('it answers', () => broker.isUp())
  })
  afterEach(async () => {
    await queue.close()
    await dispose()
  })

  const newHint = (jobId: string, actionId = newId()): Hint => ({
    actionId,
    key: jobId,
    jobId,
    type: 'send',
    rank: 0,
    delayMs: 0,
  })

  test('knows a job while it waits, is held back, or is with a worker, and no longer', async () => {
    const jobs = ['first.1', 'second.1', 'later.1']
    await broker.publish([newHint('first.1'), newHint('second.1'), { ...newHint('later.1'), delayMs: 60_000 }])
    expect(await broker.findMissing!([...jobs, 'never.1'])).toEqual(['never.1'])
    const done: (() => void)[] = []
    broker.consume(1, () => new Promise((resolve) => done.push(resolve)))
    await until('one is with a worker', () => done.length === 1)
    expect(await broker.countGiven()).toBe(1)
    expect(await broker.findMissing!(jobs)).toEqual([])
    done.shift()!()
    await until('it is over', async () => (await broker.findMissing!(jobs)).length === 1)
    expect(await broker.findMissing!(jobs)).toEqual(['first.1'])
    await until('the other is given out', () => done.length === 1)
    done.shift()!()
    expect(await broker.findMissing!([])).toEqual([])
  })

  test('leads to exactly what is lost being published again, whatever else it holds', async () => {
    const laneId = newId()
    await kernel.schedule(Array.from({ length: 100 }, () => newAction({ laneId })))
    let [published, lost, unclaimed] = [0, 0, 0]
    const relay = createRelay({
      db: kernel.db,
      broker,
      log: silent,
      sweepMs: 2_000,
      jobIdOf: ({ workspaceId, dedupeKey, position }) => encodeJobId(workspaceId, dedupeKey, position),
      onPublished: (hints) => void (published += hints),
      onSwept(swept) {
        lost += swept.lost
        unclaimed += swept.unclaimed
      },
    })
    await relay.runOnce()
    const jobs = (await queue.getJobs(['waiting', 'prioritized'])).map(({ id }) => id!)
    expect(jobs).toHaveLength(100)
    await broker.publish(jobs.flatMap((id) => [newHint(`${id}.copy`), newHint(`${id}.another`)]))
    const gone = jobs.slice(40, 60)
    for (const id of gone) await queue.remove(id)
    await kernel.shiftClock(60_000)
    await relay.runOnce()
    expect([published, lost, unclaimed]).toEqual([120, 20, 0])
    expect(await broker.findMissing!(jobs)).toEqual([])
    await kernel.shiftClock(60_000)
    await relay.runOnce()
    expect(published).toBe(120)
  })
})
