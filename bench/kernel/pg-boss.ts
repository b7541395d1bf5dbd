import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import PgBoss from 'pg-boss'
import type { Contender, Ground } from './contender.js'

/** The shortest interval pg-boss allows its own workers. */
const POLL_MS = 500

/**
 * Through `fetch` and `complete` instead of `work`: its workers wait for the interval after every batch that took less,
 * which would limit a backlog to one batch per half second. When idle, these wait as long as its own.
 */
export async function openPgBoss(
  { databaseUrl }: Ground,
  [batchSize = 1_000, fetchers = 2]: readonly number[],
): Promise<Contender> {
  const boss = new PgBoss({ connectionString: databaseUrl, max: 10, supervise: false, schedule: false })
  boss.on('error', (error) => console.error(error))
  await boss.start()
  await boss.createQueue('noop')
  const stopping = new AbortController()
  let underWay = 0
  let loops: Promise<void>[] = []

  const work = async (onStart: (id: number) => void) => {
    while (!stopping.signal.aborted) {
      const jobs = await boss.fetch<{ id: number }>('noop', { batchSize })
      if (jobs.length > 0) {
        underWay += jobs.length
        for (const { data } of jobs) onStart(data.id)
        await boss.complete(
          'noop',
          jobs.map(({ id }) => id),
        )
        underWay -= jobs.length
      } else {
        await sleep(POLL_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
      }
    }
  }

  return {
    async schedule(ids) {
      if (ids.length === 1) await boss.send('noop', { id: ids[0] })
      else await boss.insert(ids.map((id) => ({ name: 'noop', data: { id } })))
    },
    async start(onStart) {
      loops = Array.from({ length: fetchers }, () => work(onStart))
    },
    isIdle: async () => underWay === 0,
    async stop() {
      stopping.abort()
      await Promise.all(loops)
      await boss.stop({ graceful: false, wait: true })
    },
    async tally() {
      const client = new pg.Client({ connectionString: databaseUrl })
      await client.connect()
      const { rows } = await client.query<{ done: number; unfinished: number }>(
        `select count(*) filter (where state = 'completed')::int as done,
           count(*) filter (where state <> 'completed')::int as unfinished from pgboss.job where name = 'noop'`,
      )
      await client.end()
      return rows[0]!
    },
  }
}
