import { Queue, QueueEvents } from 'bullmq'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { encodeJobId } from '../../src/brokers/job-id.js'
import { openBroker } from '../../src/brokers/open-broker.js'
import { parseBrokerUrl, queueName, SEND_QUEUE } from '../../src/brokers/parse-broker-url.js'
import { createRelay } from '../../src/engine/relay.js'
import { openCampaigns } from '../campaigns/campaign-fixture.js'
import { silent } from '../support/kernel.js'
import { until } from '../support/until.js'
import { sharedBrokerUrl } from './broker-kinds.js'
import { removeTraces } from './storm-servers.js'

describe('on a real queue there is at most one campaign-batch job per campaign:', () => {
  const campaigns = openCampaigns('PostgreSQL')
  let brokerUrl: string
  let queue: Queue
  let events: QueueEvents
  beforeEach(async () => {
    brokerUrl = (await sharedBrokerUrl('bullmq'))!
    const { url, prefix } = parseBrokerUrl(brokerUrl)
    const options = { connection: { url }, prefix: 'postrider' }
    queue = new Queue(queueName(prefix, SEND_QUEUE), options)
    events = new QueueEvents(queue.name, { ...options, lastEventId: '0' })
  })
  afterEach(async () => {
    await events.close()
    await queue.close()
    await removeTraces(brokerUrl)
  })

  const launch = async (people: number) => {
    const { id: list } = await campaigns.list(people)
    const id = await campaigns.draft(list, { batchSize: 5 })
    await campaigns.launch(id)
    return id
  }
  const batches = async () =>
    (await queue.getJobs(['waiting', 'prioritized', 'delayed', 'active'])).filter(
      ({ name }) => name === 'campaign-batch',
    )

  test('however many relays look, however often, and after everything was lost', async () => {
    await Promise.all([launch(20), launch(20), launch(20)])
    const brokers = await Promise.all([1, 2].map(() => openBroker(brokerUrl, silent)))
    await until('they answer', () => brokers.every((broker) => broker.isUp()))
    const relays = brokers.map((broker) =>
      createRelay({
        db: campaigns.mail.mail.context.db,
        broker,
        log: silent,
        sweepMs: 2_000,
        jobIdOf: ({ workspaceId, dedupeKey, position }) => encodeJobId(workspaceId, dedupeKey, position),
      }),
    )
    try {
      for (const lost of [false, false, true, false]) {
        if (lost) await queue.obliterate({ force: true })
        await campaigns.mail.shiftClock(60_000)
        await Promise.all(relays.map((relay) => relay.runOnce()))
        const jobs = await batches()
        expect(jobs).toHaveLength(3)
        expect(new Set(jobs.map(({ data }) => (data as { id: string }).id)).size).toBe(3)
      }
    } finally {
      await Promise.all(brokers.map((broker) => broker.close()))
    }
  })

  test('and while two workers plan and send, none is added before the last one was taken', async () => {
    /** By the action they are about: jobs that wait, the most that ever did, and how many there were. */
    const about = new Map<string, { waiting: Set<string>; most: number; all: number }>()
    const actionOf = (jobId: string) => jobId.slice(0, jobId.lastIndexOf('.'))
    events.on('added', ({ jobId, name }) => {
      if (name !== 'campaign-batch') return
      const seen = about.get(actionOf(jobId)) ?? { waiting: new Set(), most: 0, all: 0 }
      seen.waiting.add(jobId)
      about.set(actionOf(jobId), { ...seen, most: Math.max(seen.most, seen.waiting.size), all: seen.all + 1 })
    })
    events.on('active', ({ jobId }) => void about.get(actionOf(jobId))?.waiting.delete(jobId))
    await events.waitUntilReady()
    const worker = () => campaigns.mail.another({ brokerUrl, sweepMs: 1_000, concurrency: 5 })
    const workers = [await worker(), await worker()]
    for (const one of workers) await one.start()
    const ids = await Promise.all([launch(60), launch(60)])
    await until('both are sent', async () =>
      (await Promise.all(ids.map((id) => campaigns.progress(id)))).every(({ campaign }) => campaign.status === 'sent'),
    )
    // A job sent ahead may fall due a moment after its turn was taken: workers that stop then would leave it behind.
    await until('none is left', async () => (await batches()).length === 0)
    for (const one of workers) await one.stop()
    expect(about.size).toBe(2)
    for (const { most, all } of about.values()) {
      expect(most).toBe(1)
      // A campaign comes again for every batch: otherwise this would have proved nothing.
      expect(all).toBeGreaterThan(3)
    }
  })
})
