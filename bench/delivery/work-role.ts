import type { Postrider } from '../../src/index.js'
import { openPostrider, type Place } from './open-postrider.js'
import type { Stage } from './role.js'
import { requireAllSent, tally, untilIdle } from './outbox.js'

/** Workers in a process of their own, watched while somebody else accepts, or has accepted before. */
export interface WorkTask {
  readonly place: Place
  readonly emails: number
  readonly sampleMemory: boolean
}

export interface Work {
  /** From `run_at` to the attempt's time, both by the database's clock, which is that of the settling's start. */
  readonly sent: readonly Sent[]
  readonly samples: readonly Sample[]
}

/** When it fell due, and how much later it was sent. */
export interface Sent {
  readonly dueAt: number
  readonly tookMs: number
}

export interface Sample {
  readonly sent: number
  readonly rssMb: number
  readonly heapMb: number
}

const SAMPLE_MS = 1_000

export async function work(
  { place, emails, sampleMemory }: WorkTask,
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
  const result = { sent: await readSent(postrider), samples }
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

async function readSent(postrider: Postrider): Promise<Sent[]> {
  const { rows } = await postrider.context.db.query<Sent>(
    `select (extract(epoch from run_at) * 1000)::float8 as "dueAt",
       (extract(epoch from attempts.at - run_at) * 1000)::float8 as "tookMs"
     from postrider.attempts join postrider.scheduled_actions actions on actions.id = attempts.action_id
     order by run_at`,
  )
  return rows
}
