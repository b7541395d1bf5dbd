import { Queue, Worker } from 'bullmq'
import type { Contender, Ground } from './contender.js'

/** On Redis, so its jobs are only as durable as that Redis is told to be; finished ones are kept, which is its default. */
export async function openBullmq({ redisUrl }: Ground, [concurrency = 100]: readonly number[]): Promise<Contender> {
  const prefix = `postrider-bench-${process.pid}`
  const connection = { url: redisUrl, maxRetriesPerRequest: null }
  const queue = new Queue<{ id: number }>('noop', { connection, prefix })
  await queue.waitUntilReady()
  let worker: Worker<{ id: number }> | undefined

  return {
    async schedule(ids) {
      if (ids.length === 1) await queue.add('noop', { id: ids[0]! })
      else await queue.addBulk(ids.map((id) => ({ name: 'noop', data: { id } })))
    },
    async start(onStart) {
      worker = new Worker<{ id: number }>('noop', async ({ data }) => onStart(data.id), {
        connection,
        prefix,
        concurrency,
      })
      worker.on('error', (error) => console.error(error))
      await worker.waitUntilReady()
    },
    async isIdle() {
      const { waiting = 0, active = 0 } = await queue.getJobCounts('waiting', 'active')
      return waiting + active === 0
    },
    stop: async () => worker?.close(),
    async tally() {
      const { completed = 0, ...others } = await queue.getJobCounts()
      await queue.obliterate({ force: true, count: 10_000 })
      await queue.close()
      return { done: completed, unfinished: Object.values(others).reduce((sum, count) => sum + count, 0) }
    },
  }
}
