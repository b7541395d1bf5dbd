import { parseArgs } from 'node:util'
import { acquireService } from '../test/support/services/acquire-service.js'
import { rabbitmqKind } from '../test/support/services/rabbitmq.js'
import { redisKind } from '../test/support/services/redis.js'
import { type BrokerFigures, measureBroker } from './brokers/measure-broker.js'
import { openBenchDatabases } from './support/bench-databases.js'
import { describeMachine } from './support/machine.js'
import { writeResults } from './support/results.js'
import { formatCount, formatFigure, formatTable } from './support/table.js'

/** What a broker costs and buys beside the database alone: `npm run bench -- brokers [--workers 4] [--actions 20000]`. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      workers: { type: 'string', default: '4' },
      actions: { type: 'string', default: '20000' },
      singles: { type: 'string', default: '300' },
    },
  })
  const [workers, actions, singles] = [Number(values.workers), Number(values.actions), Number(values.singles)]
  const databases = await openBenchDatabases()
  const redis = await acquireService(redisKind)
  const rabbitmq = await acquireService(rabbitmqKind)
  const seen: Record<string, BrokerFigures> = {}
  try {
    for (const [name, serverUrl] of [
      ['postgres', null],
      ['bullmq', redis.url],
      ['rabbitmq', rabbitmq.url],
    ] as const) {
      const databaseUrl = await databases.create(name)
      seen[name] = await measureBroker({
        databaseUrl,
        serverUrl,
        workers,
        actions,
        singles,
        everyMs: 10,
        idleMs: 5_000,
      })
      console.log(`${name}: ${JSON.stringify(seen[name])}`)
    }
    const rows = Object.entries(seen).map(([name, figures]) => [
      name,
      formatCount(figures.perSecond),
      formatFigure(figures.transactionsPerAction),
      formatFigure(figures.p50Ms),
      formatFigure(figures.p99Ms),
      formatFigure(figures.idleTransactionsPerSecond),
    ])
    const header = ['broker', 'actions/s', 'transactions each', 'p50 ms', 'p99 ms', `idle transactions/s`]
    console.log(`\n${formatTable(header, rows)}\n`)
    console.log(writeResults('brokers', { machine: describeMachine(), settings: { workers, actions, singles }, seen }))
  } finally {
    await databases.close()
    await redis.release()
    await rabbitmq.release()
  }
}
