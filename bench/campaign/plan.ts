import type { Bar } from '../support/bars.js'
import { formatCount, formatFigure, formatRatio, formatTable } from '../support/table.js'
import { type House, report, type Report } from '../delivery/house.js'
import { startRole } from '../delivery/start-role.js'
import type { NaivePlanning } from './naive-role.js'
import type { Planning } from './plan-role.js'

/** How fast a list becomes emails, set by set, beside one row and one job per contact. */
export interface PlanLoad {
  readonly contacts: number
  readonly batchSizes: readonly number[]
  readonly redisUrl: string
}

export interface PlanFound {
  readonly plannings: readonly Planning[]
  readonly naive: readonly NaivePlanning[]
  readonly naiveContacts: number
}

/** The naive way takes so many times as long that a part of the list has to do. */
const NAIVE_SHARE = 20
const NAIVE_AT_ONCE = [1, 50]

export async function measurePlanning(house: House, load: PlanLoad): Promise<Report<PlanFound>> {
  const { contacts, batchSizes, redisUrl } = load
  const naiveContacts = Math.max(1, Math.round(contacts / NAIVE_SHARE))
  const found = await report(async () => {
    const plannings = await house.withGround(async (ground) => {
      const planner = startRole('plan', { place: { ...ground, smtp: null }, contacts, batchSizes }, house.rules('plan'))
      return planner.result.finally(() => planner.exit())
    })
    const naive = await house.withGround(async (ground) => {
      const task = { place: { ...ground, smtp: null }, redisUrl, contacts: naiveContacts, batchSize: batchSizes[0]! }
      const planner = startRole('planNaively', { ...task, atOnce: NAIVE_AT_ONCE }, house.rules('plan naive'))
      return planner.result.finally(() => planner.exit())
    })
    return { plannings, naive, naiveContacts }
  })
  if ('failure' in found) console.log(`plan: FAILED: ${found.failure}`)
  return found
}

export function formatPlanning(found: Report<PlanFound>): string {
  const { plannings, naive, naiveContacts } = seenOf(found)
  const best = bestNaive(naive)
  return formatTable(
    ['plan', 'recipients/s', 'x naive', 'launch ms', 'first ms', 'last ms', 'p99', 'node cpu s'],
    [
      ...plannings.map((one) => [
        `batches of ${formatCount(one.batchSize)}`,
        formatCount(one.perSecond),
        formatRatio(one.perSecond / best),
        formatFigure(one.launchMs),
        formatFigure(one.firstMs),
        formatFigure(one.lastMs),
        formatFigure(one.p99Ms),
        formatFigure(one.cpuSeconds),
      ]),
      ...naive.map((one) => [
        `a row and a BullMQ job each, ${one.atOnce} at once (${formatCount(naiveContacts)} contacts)`,
        formatCount(one.perSecond),
        formatRatio(one.perSecond / best),
      ]),
    ],
  )
}

const LEAST = 30_000
const LONGEST_LAUNCH_MS = 1_000
const MOST_GROWTH = 1.5

export function judgePlanning(found: Report<PlanFound>): Bar[] {
  const { plannings } = seenOf(found)
  const usual = plannings[0]
  const speed = usual?.perSecond ?? Number.NaN
  const launchMs = Math.max(...plannings.map((one) => one.launchMs))
  const growth = (usual?.lastMs ?? Number.NaN) / (usual?.firstMs ?? Number.NaN)
  return [
    {
      name: `planning at least ${formatCount(LEAST)} recipients/s`,
      value: `${formatCount(speed)}/s`,
      pass: speed >= LEAST,
    },
    {
      name: `launching returns within ${LONGEST_LAUNCH_MS} ms`,
      value: `${formatFigure(launchMs)} ms`,
      pass: launchMs <= LONGEST_LAUNCH_MS,
    },
    {
      name: `the last batches cost at most ${MOST_GROWTH} times the first`,
      value: formatRatio(growth),
      pass: growth <= MOST_GROWTH,
    },
  ]
}

const seenOf = (found: Report<PlanFound>): PlanFound =>
  'measured' in found ? found.measured : { plannings: [], naive: [], naiveContacts: 0 }

const bestNaive = (naive: readonly NaivePlanning[]) =>
  naive.length === 0 ? Number.NaN : Math.max(...naive.map(({ perSecond }) => perSecond))
