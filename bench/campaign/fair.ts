import type { Bar } from '../support/bars.js'
import { formatCount, formatFigure, formatTable } from '../support/table.js'
import { type House, report, type Report } from '../delivery/house.js'
import { startRole } from '../delivery/start-role.js'
import type { Fairness } from './fair-role.js'
import type { ProviderName } from './null-provider.js'

/** Two campaigns at once, and what a single email waits behind them. */
export interface FairLoad {
  readonly contacts: number
  readonly batchSize: number
  readonly provider: ProviderName
}

export async function measureFairness(house: House, load: FairLoad): Promise<Report<Fairness>> {
  const found = await report(() =>
    house.withGround(async (ground) => {
      const runner = startRole('runFair', { place: { ...ground, smtp: null }, ...load }, house.rules('campaign fair'))
      return runner.result.finally(() => runner.exit())
    }),
  )
  if ('failure' in found) console.log(`fair: FAILED: ${found.failure}`)
  return found
}

export function formatFairness(found: Report<Fairness>, { contacts, provider }: FairLoad): string {
  const seen = 'measured' in found ? found.measured : null
  const figure = (value: number | undefined) => formatFigure(value ?? Number.NaN)
  const count = (value: number | undefined) => formatCount(value ?? Number.NaN)
  return formatTable(
    ['fair', 'sent/s', 'samples', 'widest apart', 'singles', 'accept to sent p50 ms', 'p99', 'max'],
    [
      [
        `two campaigns of ${formatCount(contacts)}, provider ${provider}${seen ? '' : ' FAILED'}`,
        count(seen?.perSecond),
        count(seen?.samples.length),
        count(seen?.widest),
        count(seen?.singles),
        figure(seen?.acceptToSentMs.p50),
        figure(seen?.acceptToSentMs.p99),
        figure(seen?.acceptToSentMs.max),
      ],
    ],
  )
}

const LONGEST_MS = 100

export function judgeFairness(found: Report<Fairness>, { batchSize }: FairLoad): Bar[] {
  const seen = 'measured' in found ? found.measured : null
  const widest = seen?.widest ?? Number.NaN
  const p99 = seen?.acceptToSentMs.p99 ?? Number.NaN
  return [
    {
      name: `two campaigns within one batch (${formatCount(batchSize)}) of each other at every sample`,
      value: formatCount(widest),
      pass: widest <= batchSize,
    },
    {
      name: `a single email between them sent within ${LONGEST_MS} ms at p99`,
      value: `${formatFigure(p99)} ms`,
      pass: p99 <= LONGEST_MS,
    },
  ]
}
