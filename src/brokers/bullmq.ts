import type { Queue as BullQueue, Worker as BullWorker } from 'bullmq'
import type { Redis as RedisClient } from 'ioredis'
import type { Log } from '../log.js'
import type { Broker, Hint, Message } from './broker.js'
import { loadClient } from './load-client.js'
import { queueName, SEND_QUEUE } from './parse-broker-url.js'
import { within } from './within.js'

/**
 * BullMQ on Redis. Jobs are removed when they complete and when they fail: one that was kept would make a later job of
 * the same id vanish without a word. Nothing else is kept either, so that Redis holds what is waiting and no more.
 */
export interface BrokerOptions {
  readonly url: string
  readonly prefix: string | null
  readonly log: Log
}

interface JobData {
  readonly id: string
  readonly key: string
}

/** Further ahead would only fill Redis: the next look of the relay comes long before. */
const HORIZON_MS = 30_000
const ANSWER_MS = 10_000
const CLOSE_MS = 5_000
const LONGEST_PAUSE_MS = 2_000
/**
 * How long a worker may be silent before its job is given to another. The lease decides who may work; this only decides
 * when the job of a dead worker is looked at again and found to be over.
 */
const LOCK_MS = 30_000
/** A stalled job is a hint like any other: it is never given up. */
const STALLS = 1_000_000
const EVENTS_KEPT = 100

/** What plans a campaign's next people is known by this name, wherever it is counted. */
const jobName = (type: string) => (type === 'batch' ? 'campaign-batch' : type)

export async function openBullmq({ url, prefix, log }: BrokerOptions): Promise<Broker> {
  const { Queue, Worker } = await loadClient('bullmq', () => import('bullmq'))
  const { Redis } = await loadClient('ioredis', () => import('ioredis'))
  const name = queueName(prefix, SEND_QUEUE)
  // Closing waits for Redis to answer: one that is away must not be waited for once this is set.
  let ending = false
  const retryStrategy = (times: number) => (ending ? null : Math.min(50 * 2 ** Math.min(times, 10), LONGEST_PAUSE_MS))
  // What is asked while Redis is away is answered when it is back; whoever asked has given up by then.
  const connection = { maxRetriesPerRequest: null, retryStrategy }
  const redis: RedisClient = new Redis(url, connection)
  redis.on('error', (error) => log.debug({ err: error }, 'redis'))
  const shared = { prefix: 'postrider', skipVersionCheck: true }
  const queue: BullQueue = new Queue(name, {
    ...shared,
    connection: redis,
    streams: { events: { maxLen: EVENTS_KEPT } },
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  })
  queue.on('error', (error) => log.debug({ err: error }, 'bullmq queue'))
  let worker: BullWorker<JobData> | undefined
  const underWay = new Set<Promise<void>>()

  const toJob = ({ actionId, key, jobId, type, rank, delayMs }: Hint) => ({
    name: jobName(type),
    data: { id: actionId, key } satisfies JobData,
    opts: { jobId, ...(rank > 0 && { priority: rank }), ...(delayMs > 0 && { delay: Math.ceil(delayMs) }) },
  })

  return {
    name: 'bullmq',
    carries: true,
    horizonMs: HORIZON_MS,
    announceFailures: null,
    isUp: () => redis.status === 'ready',
    async publish(hints) {
      await within(ANSWER_MS, 'Publishing to Redis', queue.addBulk(hints.map(toJob)))
    },
    consume(concurrency: number, onMessage: (message: Message) => Promise<void>) {
      const process = ({ data }: { readonly data: JobData }) => {
        const work = onMessage({ actionId: data.id, key: data.key })
        const over = work.catch(() => undefined).finally(() => underWay.delete(over))
        underWay.add(over)
        return work
      }
      worker = new Worker<JobData>(name, process, {
        ...shared,
        connection: { url, ...connection },
        concurrency,
        lockDuration: LOCK_MS,
        stalledInterval: LOCK_MS / 2,
        maxStalledCount: STALLS,
      })
      // A job that vanished under a worker, or whose worker was frozen, is no more than a hint too few or too many.
      worker.on('error', (error) => log.debug({ err: error }, 'bullmq worker'))
    },
    async stopConsuming() {
      if (!worker) return
      // Asked kindly while Redis is away, a worker waits for it for ever, and its timers keep the process alive.
      const isAway = redis.status !== 'ready'
      const closing = isAway ? Promise.all(underWay).then(() => worker!.close(true)) : worker.close()
      await within(CLOSE_MS, 'Closing', closing)
        .catch(async () => {
          ending = true
          await within(CLOSE_MS, 'Closing', isAway ? worker!.close(true) : worker!.disconnect().then(() => closing))
        })
        .catch((error: unknown) => log.debug({ err: error }, 'bullmq worker'))
    },
    async countHeld() {
      const counts = await within(ANSWER_MS, 'Asking Redis', queue.getJobCounts('waiting', 'prioritized', 'delayed'))
      return Object.values(counts).reduce((sum, count) => sum + count, 0)
    },
    async findMissing(jobIds: readonly string[]) {
      const asked = redis.pipeline()
      // One that has nothing to look for still wants to know whether anybody answers.
      if (jobIds.length === 0) asked.ping()
      for (const jobId of jobIds) asked.exists(queue.toKey(jobId))
      const answers = await within(ANSWER_MS, 'Asking Redis', asked.exec())
      const failure = answers?.find(([error]) => error)?.[0]
      if (!answers || failure) throw failure ?? new Error('Redis gave no answer.')
      return jobIds.filter((_, i) => answers[i]![1] === 0)
    },
    countGiven: () => within(ANSWER_MS, 'Asking Redis', queue.getActiveCount()),
    async close() {
      ending = true
      if (redis.status === 'ready') await within(CLOSE_MS, 'Closing', queue.close()).catch(() => undefined)
      redis.disconnect()
    },
  }
}
