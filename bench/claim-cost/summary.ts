import type { Bar } from '../support/bars.js'
import { median } from '../support/statistics.js'
import { formatCount, formatFigure, formatRatio, formatTable } from '../support/table.js'
import type { Round, Sample } from './measure-round.js'

export interface Cost {
  readonly ms: number
  readonly buffers: number
}

export interface SizeSummary {
  readonly size: number
  readonly gigabytes: number
  readonly claim: Cost
  readonly promotion: Cost
}

const middle = (samples: readonly Sample[]): Cost => ({
  ms: median(samples.map(({ ms }) => ms)),
  buffers: median(samples.map(({ buffers }) => buffers)),
})

export const summarize = (size: number, gigabytes: number, rounds: readonly Round[]): SizeSummary => ({
  size,
  gigabytes,
  claim: middle(rounds.flatMap(({ claims }) => claims)),
  promotion: middle(rounds.map(({ promotion }) => promotion)),
})

const LIMIT = 1.3

export function formatSizes(sizes: readonly SizeSummary[]): string {
  const [smallest] = sizes
  return formatTable(
    ['rows', 'GB', 'claim ms', '', 'buffers', '', 'promote ms', '', 'buffers', ''],
    sizes.map(({ size, gigabytes, claim, promotion }) => [
      formatCount(size),
      formatFigure(gigabytes, 2),
      formatFigure(claim.ms, 2),
      formatRatio(claim.ms / smallest!.claim.ms),
      formatCount(claim.buffers),
      formatRatio(claim.buffers / smallest!.claim.buffers),
      formatFigure(promotion.ms, 2),
      formatRatio(promotion.ms / smallest!.promotion.ms),
      formatCount(promotion.buffers),
      formatRatio(promotion.buffers / smallest!.promotion.buffers),
    ]),
  )
}

/** The largest size against the smallest, in time and in pages: the former is what people feel, the latter has no noise. */
export function judge(sizes: readonly SizeSummary[]): Bar[] {
  const smallest = sizes[0]!
  const worst = (figure: (summary: SizeSummary) => number) => Math.max(...sizes.map(figure)) / figure(smallest)
  const bar = (name: string, ratio: number) => ({
    name: `${name} within ${LIMIT} times the smallest size`,
    value: formatRatio(ratio),
    pass: ratio <= LIMIT,
  })
  return [
    bar(
      'claim, time',
      worst(({ claim }) => claim.ms),
    ),
    bar(
      'claim, buffers',
      worst(({ claim }) => claim.buffers),
    ),
    bar(
      'promotion, time',
      worst(({ promotion }) => promotion.ms),
    ),
    bar(
      'promotion, buffers',
      worst(({ promotion }) => promotion.buffers),
    ),
  ]
}
