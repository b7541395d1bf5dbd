import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { Connection } from 'rabbitmq-client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DEAD_QUEUE, parseBrokerUrl, queueName, SEND_QUEUE } from '../../src/brokers/parse-broker-url.js'
import type { Postrider } from '../../src/index.js'
import { newId } from '../../src/id.js'
import { BROKERS, sharedBrokerUrl } from '../brokers/broker-kinds.js'
import { removeTraces } from '../brokers/storm-servers.js'
import { openMail } from '../sending/mail-fixture.js'
import { until } from '../support/until.js'

/** The product behaves the same with any broker and with none. */
describe.each(BROKERS)('told what is due by %s, Postrider', (name) => {
  const fixture = openMail('PostgreSQL')
  let brokerUrl: string | null
  let workers: Postrider[]
  /** Notes that were carried out, once per time. */
  let noted: string[]
  beforeEach(async () => {
    brokerUrl = await sharedBrokerUrl(name)
    noted = []
    const handlers = {
      note: {
        kind: 'effect' as const,
        retryPolicy: 'standard' as const,
        apply: async ({ dedupeKey }: { dedupeKey: string }) => void noted.push(dedupeKey),
      },
    }
    const standard = { name: 'standard', waitsMs: [200], maxAttempts: 2, jitter: 0 }
    const retryPolicies = { standard, transactional: standard, outreach: standard }
    const worker = () => fixture.another({ brokerUrl, sweepMs: 1_000, concurrency: 5, handlers, retryPolicies })
    workers = [await worker(), await worker()]
    for (const one of workers) await one.start()
  })
  afterEach(async () => {
    for (const one of workers) await one.stop()
    await removeTraces(brokerUrl)
  })

  const send = (email = {}) =>
    fixture.mail.emails.send({ to: 'ada@example.com', subject: 'Hello', text: 'Hello.', ...email })
  const stateOf = async (id: string) => (await fixture.delivery(id)).state
  const isState = async (id: string, state: string) => (await stateOf(id)) === state
  const taken = () => fixture.server.taken.length
  const note = (key: string, laneId = newId(), runAt?: Date) => ({
    type: 'note',
    laneId,
    dedupeKey: key,
    ...(runAt && { runAt }),
  })

  test('sends an email once', async () => {
    const { id } = await send()
    await until('it is sent', () => isState(id, 'done'))
    expect(taken()).toBe(1)
  })

  test('sends hundreds once, by all its workers', async () => {
    const keys = Array.from({ length: 300 }, (_, i) => `note:${i}`)
    const lanes = [newId(), newId(), newId()]
    await fixture.mail.actions.schedule(keys.map((key, i) => note(key, lanes[i % 3])))
    await until('all are done', () => noted.length >= keys.length)
    expect(noted.toSorted()).toEqual(keys.toSorted())
    const { due, leases } = await until('at rest', async () => {
      const backlog = await fixture.mail.backlog()
      return backlog.due === 0 && backlog.leases === 0 && backlog
    })
    expect([due, leases]).toEqual([0, 0])
  })

  test('sends what falls due in a moment, and not before', async () => {
    const runAt = new Date(Date.now() + 1_000)
    await fixture.mail.actions.schedule(note('later', newId(), runAt))
    await until('it is done', () => noted.length === 1)
    expect(Date.now()).toBeGreaterThanOrEqual(runAt.getTime())
  })

  test('tries again what failed for a while, by its policy', async () => {
    fixture.answer('rcpt', '451 4.3.0 not now', 1)
    const { id } = await send()
    await until('it is sent', () => isState(id, 'done'))
    expect(await fixture.delivery(id)).toMatchObject({ attempts: 2 })
  })

  test('gives up what fails for good, and says so where people look', async () => {
    fixture.answer('rcpt', '554 5.7.1 never')
    const { id } = await send()
    await until('it failed', () => isState(id, 'failed'))
    if (name !== 'rabbitmq') return
    const { url, prefix } = parseBrokerUrl(brokerUrl!)
    const connection = new Connection(url)
    const letter = await until('the dead letter', () => connection.basicGet(queueName(prefix, DEAD_QUEUE)))
    await connection.close()
    expect(letter.body).toMatchObject({ event: 'action.failed', type: 'send', attempts: 1, reason: 'message' })
  })

  test('leaves a paused lane alone until it is resumed, and a canceled one for good', async () => {
    const [paused, canceled, open] = [newId(), newId(), newId()]
    await fixture.mail.lanes.pause(paused)
    await fixture.mail.lanes.cancel(canceled)
    await fixture.mail.actions.schedule([note('paused', paused), note('canceled', canceled), note('open', open)])
    await until('the open one is done', () => noted.length === 1)
    expect(noted).toEqual(['open'])
    await fixture.mail.lanes.resume(paused)
    await until('the resumed one is done', () => noted.length === 2)
    expect(noted).toEqual(['open', 'paused'])
  })

  test('goes on without what it held when it stops', async () => {
    const keys = Array.from({ length: 40 }, (_, i) => `note:${i}`)
    const lane = newId()
    await fixture.mail.actions.schedule(keys.map((key) => note(key, lane)))
    await workers[0]!.stop()
    await until('all are done', () => noted.length >= keys.length)
    expect(noted.toSorted()).toEqual(keys.toSorted())
  })

  // Only this broker keeps what is over unless it is told not to.
  if (name !== 'bullmq') return

  test('leaves nothing in Redis of what is over', async () => {
    await fixture.mail.actions.schedule(Array.from({ length: 200 }, (_, i) => note(`note:${i}`)))
    await until('all are done', () => noted.length >= 200)
    const { url, prefix } = parseBrokerUrl(brokerUrl!)
    const redis = new Redis(url, { maxRetriesPerRequest: null })
    const queue = new Queue(queueName(prefix, SEND_QUEUE), { connection: redis, prefix: 'postrider' })
    try {
      await until('no job is left', async () => Object.values(await queue.getJobCounts()).every((count) => count === 0))
      // The events, the marker and a few settings of the queue; no job.
      expect((await redis.keys(`postrider:${prefix}.*`)).length).toBeLessThan(10)
    } finally {
      await queue.close()
      redis.disconnect()
    }
  })
})
