import type { Postrider } from '../../src/index.js'
import { openPostrider, type Place } from './open-postrider.js'
import type { Stage } from './role.js'
import { requireAllSent, tally, untilIdle } from './outbox.js'

/** Workers in a process of their own, watched while somebody else accepts, or has accepted before. */
export interface WorkTask {
  readonly place: Place
  readonly emails: number
  /** Of the first emails, which are not looked at: a process that has just begun is slower than it will be. */
  readonly warmUpSeconds: number
  readonly sampleMemory: boolean
}

export interface Work {
  /** From `run_at` to the attempt's time, both by the database's clock, which is that of the settling's start. */
  readonly dueToSentMs: Latency
  /** The warm-up included. */
  readonly dueToSentFromTheStartMs: Latency
  readonly samples: readonly Sample[]
}

interface Latency {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export interface Sample {
  readonly sent: number
  readonly rssMb: number
  readonly heapMb: number
}

const SAMPLE_MS = 1_000

export async function work(
  { place, emails, warmUpSeconds, sampleMemory }: WorkTask,
  { ready, stopped, watch }: Stage<null>,
): Promise<Work> {
  const postrider = await openPostrider(place)
  const unwatch = await watch()
  await postrider.start()
  const samples: Sample[] = []
  const timer = sampleMemory ? setInterval(() => void take(postrider, samples), SAMPLE_MS) : undefined
  ready(null)
  // Whoever accepts is done by then, so that idle means finished.
  await stopped
  await untilIdle(postrider)
  clearInterval(timer)
  await unwatch()
  if (sampleMemory) await take(postrider, samples)
  requireAllSent(await tally(postrider), emails)
  const result = {
    dueToSentMs: await readLatency(postrider, warmUpSeconds),
    dueToSentFromTheStartMs: await readLatency(postrider, 0),
    samples,
  }
  await postrider.stop()
  return result
}

/** Memory first: the answer of the database comes a moment later. */
async function take(postrider: Postrider, samples: Sample[]): Promise<void> {
  const { rss, heapUsed } = process.memoryUsage()
  const { rows } = await postrider.context.db.query<{ sent: number }>(
    `select count(*)::int as sent from postrider.attempts where outcome = 'accepted'`,
  )
  samples.push({ sent: rows[0]!.sent, rssMb: rss / 2 ** 20, heapMb: heapUsed / 2 ** 20 })
}

async function readLatency(postrider: Postrider, afterSeconds: number): Promise<Latency> {
  const { rows } = await postrider.context.db.query<{ found: [number, number, number] | null }>(
    `select percentile_disc(array[0.5, 0.99, 1]) within group (
         order by (extract(epoch from attempts.at - actions.run_at) * 1000)::float8) as found
     from postrider.attempts join postrider.scheduled_actions actions on actions.id = attempts.action_id
     where actions.run_at >= (select min(run_at) from postrider.scheduled_actions) + $1 * interval '1 second'`,
    [afterSeconds],
  )
  const [p50, p99, max] = rows[0]?.found ?? [Number.NaN, Number.NaN, Number.NaN]
  return { p50, p99, max }
}
