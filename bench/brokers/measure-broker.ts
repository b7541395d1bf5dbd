import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPostrider, type Postrider } from '../../src/index.js'
import { newId } from '../../src/id.js'
import { removeTraces, withPrefix } from '../../test/brokers/storm-servers.js'
import { quantile } from '../support/statistics.js'

/** One broker, with workers whose hand-overs take no time: what is measured is the way to them. */
export interface BrokerTask {
  readonly databaseUrl: string
  /** Null for the database itself. */
  readonly serverUrl: string | null
  readonly workers: number
  readonly actions: number
  readonly singles: number
  readonly everyMs: number
  readonly idleMs: number
}

export interface BrokerFigures {
  /** Of a backlog. */
  readonly perSecond: number
  readonly transactionsPerAction: number
  /** From scheduled to handed over, one at a time. */
  readonly p50Ms: number
  readonly p99Ms: number
  /** Of all workers together when there is nothing to do. */
  readonly idleTransactionsPerSecond: number
}

const BATCH = 500
const BOOKS_MS = 11_000

export async function measureBroker(task: BrokerTask): Promise<BrokerFigures> {
  const { databaseUrl, serverUrl, workers, actions, singles, everyMs, idleMs } = task
  const dataDirectory = mkdtempSync(join(tmpdir(), 'postrider-bench-'))
  const started = new Map<string, number>()
  const waits: number[] = []
  let done = 0
  const brokerUrl = serverUrl && withPrefix(serverUrl)
  const open = () =>
    createPostrider({
      databaseUrl,
      dataDirectory,
      brokerUrl,
      secret: 'a secret of the benchmark',
      concurrency: 50,
      handlers: {
        note: {
          kind: 'hand-over',
          retryPolicy: 'standard',
          async handOver({ dedupeKey }, grip) {
            if (!(await grip.arm())) return { kind: 'release' }
            done++
            const since = started.get(dedupeKey)
            if (since !== undefined) waits.push(performance.now() - since)
            return { kind: 'done' }
          },
        },
      },
    })
  const fleet: Postrider[] = []
  try {
    const api = await open()
    fleet.push(api)
    for (let i = 0; i < workers; i++) fleet.push(await open())
    for (const worker of fleet.slice(1)) await worker.start()
    await sleep(2_000)

    const laneId = newId()
    for (let i = 0; i < singles; i++) {
      const key = `single:${i}`
      started.set(key, performance.now())
      await api.actions.schedule({ type: 'note', laneId, dedupeKey: key })
      await sleep(everyMs)
    }
    await waitFor(() => done >= singles)

    const before = await countTransactions(api)
    const began = performance.now()
    for (let i = 0; i < actions; i += BATCH)
      await api.actions.schedule(
        Array.from({ length: Math.min(BATCH, actions - i) }, (_, n) => ({
          type: 'note',
          laneId,
          dedupeKey: `many:${i + n}`,
        })),
      )
    await waitFor(() => done >= singles + actions)
    const seconds = (performance.now() - began) / 1_000
    const transactions = (await countTransactions(api)) - before

    const idleBefore = await countTransactions(api)
    await sleep(idleMs)
    const idle = (await countTransactions(api)) - idleBefore
    return {
      perSecond: actions / seconds,
      transactionsPerAction: transactions / actions,
      p50Ms: quantile(waits, 0.5),
      p99Ms: quantile(waits, 0.99),
      idleTransactionsPerSecond: idle / ((idleMs + BOOKS_MS) / 1_000),
    }
  } finally {
    for (const one of fleet) await one.stop()
    await removeTraces(brokerUrl)
    rmSync(dataDirectory, { recursive: true, force: true })
  }
}

async function waitFor(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(2)
}

/** As the server counts them: every statement of ours outside of a transaction is one. */
async function countTransactions(postrider: Postrider): Promise<number> {
  // A connection that has gone idle writes down what it did up to ten seconds later.
  await sleep(BOOKS_MS)
  const { rows } = await postrider.context.db.query<{ count: string }>(
    `select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()`,
  )
  return Number(rows[0]!.count)
}
