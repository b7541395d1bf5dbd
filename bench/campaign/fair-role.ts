import { setTimeout as sleep } from 'node:timers/promises'
import type { Postrider } from '../../src/index.js'
import { emailTo } from '../delivery/email.js'
import type { Place } from '../delivery/open-postrider.js'
import type { Stage } from '../delivery/role.js'
import { quantile } from '../support/statistics.js'
import { draftCampaign, fillList, launchCampaign } from './campaign-ground.js'
import { openWithProvider, type ProviderName } from './null-provider.js'

/** Two campaigns launched together and, all through them, single emails that somebody waits for. */
export interface FairTask {
  readonly place: Place
  readonly contacts: number
  readonly batchSize: number
  readonly provider: ProviderName
}

export interface Fairness {
  readonly seconds: number
  readonly perSecond: number
  readonly samples: readonly (readonly [number, number])[]
  /** How far apart the two ever were. */
  readonly widest: number
  readonly singles: number
  /** From `created_at` to the settling, both by the database's clock. */
  readonly acceptToSentMs: { readonly p50: number; readonly p99: number; readonly max: number }
}

const SAMPLE_MS = 500
const SINGLE_MS = 50

export async function runFair(task: FairTask, { watch }: Stage<null>): Promise<Fairness> {
  const { place, contacts, batchSize, provider } = task
  const postrider = await openWithProvider(place, provider)
  const drafts = []
  for (const nth of [0, 1])
    drafts.push(await draftCampaign(postrider, await fillList(postrider, contacts, nth), batchSize))
  const lanes = drafts.map(({ laneId }) => laneId)
  for (const draft of drafts) await launchCampaign(postrider, draft)
  const unwatch = await watch()
  const from = performance.now()
  await postrider.start()
  let isOver = false
  const singles = sendSingles(postrider, () => isOver)
  const samples: [number, number][] = []
  for (;;) {
    const [first, second] = await countSent(postrider, lanes)
    if (first === contacts && second === contacts) break
    samples.push([first, second])
    await sleep(SAMPLE_MS)
  }
  const seconds = (performance.now() - from) / 1_000
  isOver = true
  await unwatch()
  const sent = await singles
  const waits = await readWaits(postrider, lanes, sent)
  await postrider.stop()
  return {
    seconds,
    perSecond: (2 * contacts) / seconds,
    samples,
    widest: Math.max(0, ...samples.map(([first, second]) => Math.abs(first - second))),
    singles: sent,
    acceptToSentMs: { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99), max: quantile(waits, 1) },
  }
}

/** By the clock: one that is slow to be accepted must not make them fewer. */
async function sendSingles(postrider: Postrider, isOver: () => boolean): Promise<number> {
  const calls: Promise<unknown>[] = []
  while (!isOver()) {
    calls.push(postrider.emails.send(emailTo(calls.length)))
    await sleep(SINGLE_MS)
  }
  await Promise.all(calls)
  return calls.length
}

/** In one statement, so at one instant. */
async function countSent(postrider: Postrider, lanes: readonly string[]): Promise<[number, number]> {
  const { rows } = await postrider.context.db.query<{ lane: string; sent: number }>(
    `select lane_id as lane, count(*) filter (where state = 'done')::int as sent
     from postrider.scheduled_actions where lane_id = any ($1::uuid[]) and type = 'send' group by lane_id`,
    [lanes],
  )
  const sentOf = (lane: string | undefined) => rows.find((row) => row.lane === lane)?.sent ?? 0
  return [sentOf(lanes[0]), sentOf(lanes[1])]
}

const LAST_MS = 10_000

async function readWaits(postrider: Postrider, lanes: readonly string[], expected: number): Promise<number[]> {
  for (const deadline = performance.now() + LAST_MS; ; await sleep(SINGLE_MS)) {
    const { rows } = await postrider.context.db.query<{ wait: number }>(
      `select (extract(epoch from state_at - created_at) * 1000)::float8 as wait from postrider.scheduled_actions
       where type = 'send' and state = 'done' and lane_id <> all ($1::uuid[])`,
      [lanes],
    )
    if (rows.length === expected) return rows.map(({ wait }) => wait)
    if (performance.now() > deadline) throw new Error(`Of ${expected} single emails ${rows.length} went out.`)
  }
}
