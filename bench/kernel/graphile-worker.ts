import { Logger, makeWorkerUtils, run, type Runner } from 'graphile-worker'
import pg from 'pg'
import type { Contender, Ground } from './contender.js'

/** As its documentation tunes it for throughput: jobs fetched ahead into a local queue, completions written together. */
export async function openGraphileWorker(
  { databaseUrl }: Ground,
  [size = 500, concurrentJobs = 24]: readonly number[],
): Promise<Contender> {
  const logger = new Logger(() => () => undefined)
  const utils = await makeWorkerUtils({ connectionString: databaseUrl, logger })
  await utils.migrate()
  const observer = new pg.Client({ connectionString: databaseUrl })
  await observer.connect()
  let runner: Runner | undefined
  const countLeft = async () => {
    const { rows } = await observer.query<{ left: number }>(
      'select count(*)::int as left from graphile_worker._private_jobs',
    )
    return rows[0]!.left
  }

  return {
    async schedule(ids) {
      if (ids.length === 1) await utils.addJob('noop', { id: ids[0] })
      else await utils.addJobs(ids.map((id) => ({ identifier: 'noop', payload: { id } })))
    },
    async start(onStart) {
      runner = await run({
        connectionString: databaseUrl,
        logger,
        noHandleSignals: true,
        parsedCronItems: [],
        taskList: {
          noop(payload) {
            onStart((payload as { id: number }).id)
          },
        },
        preset: {
          worker: { concurrentJobs, localQueue: { size }, completeJobBatchDelay: 0, failJobBatchDelay: 0 },
        },
      })
    },
    isIdle: async () => (await countLeft()) === 0,
    stop: async () => runner?.stop(),
    async tally() {
      const unfinished = await countLeft()
      await utils.release()
      await observer.end()
      return { done: null, unfinished }
    },
  }
}
