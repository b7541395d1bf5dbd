import type { Bar } from '../support/bars.js'
import { median } from '../support/statistics.js'
import { formatCount, formatFigure, formatRatio, formatTable } from '../support/table.js'
import type { Report } from './child.js'
import { CONTENDER_NAMES, type ContenderName, describeSettings, type Entry } from './entries.js'
import type { Measurement } from './measure.js'

export interface Run {
  readonly round: number
  readonly entry: Entry
  readonly report: Report
}

/** One contender with one set of settings, over all rounds. */
export interface Standing {
  readonly name: ContenderName
  readonly settings: string
  /** Of the contender's variants the one with the highest median rate of processing. */
  readonly isBest: boolean
  readonly failures: readonly string[]
  readonly processing: { readonly median: number; readonly best: number }
  readonly scheduling: { readonly median: number; readonly best: number }
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly max: number }
  readonly latencyFromCallP50Ms: number
  readonly rssPeakMb: number
  readonly processingCpuSeconds: number
  readonly processingMachineCpuSeconds: number
  /** Rows kept as done, of rows scheduled; null for a contender that keeps none. */
  readonly kept: string | null
}

export function rank(runs: readonly Run[]): Standing[] {
  return CONTENDER_NAMES.flatMap((name) => {
    const own = runs.filter(({ entry }) => entry.name === name)
    const variants = [...new Set(own.map(({ entry }) => describeSettings(entry)))]
    const standings = variants.map((settings) =>
      toStanding(
        name,
        settings,
        own.filter(({ entry }) => describeSettings(entry) === settings).map(({ report }) => report),
      ),
    )
    // A variant that failed once is not the best of anything.
    const rate = ({ failures, processing }: Standing) => (failures.length > 0 ? 0 : processing.median)
    const best = Math.max(...standings.map(rate))
    return standings.map((standing) => ({ ...standing, isBest: best > 0 && rate(standing) === best }))
  })
}

function toStanding(name: ContenderName, settings: string, reports: readonly Report[]): Standing {
  const seen = reports.flatMap((report) => ('measurement' in report ? [report.measurement] : []))
  const middle = (figure: (measurement: Measurement) => number) => median(seen.map(figure))
  const most = (figure: (measurement: Measurement) => number) => Math.max(...seen.map(figure))
  const last = seen.at(-1)
  return {
    name,
    settings,
    isBest: false,
    failures: reports.flatMap((report) => ('failure' in report ? [report.failure] : [])),
    processing: { median: middle((m) => m.processing.perSecond), best: most((m) => m.processing.perSecond) },
    scheduling: { median: middle((m) => m.scheduling.perSecond), best: most((m) => m.scheduling.perSecond) },
    latencyMs: {
      p50: middle((m) => m.latencyMs.p50),
      p99: middle((m) => m.latencyMs.p99),
      max: most((m) => m.latencyMs.max),
    },
    latencyFromCallP50Ms: middle((m) => m.latencyFromCallMs.p50),
    rssPeakMb: most((m) => m.rssPeakMb),
    processingCpuSeconds: middle((m) => m.processing.cpuSeconds),
    processingMachineCpuSeconds: middle((m) => m.processing.machineCpuSeconds),
    kept: last && last.tally.done !== null ? `${last.tally.done} of ${last.scheduled}` : null,
  }
}

const bestOf = (standings: readonly Standing[], name: ContenderName) =>
  standings.find((standing) => standing.name === name && standing.isBest)

const HEAD = [
  'contender',
  'process/s',
  'best',
  'x graphile',
  'best/best',
  'schedule/s',
  'best',
  'start p50 ms',
  'p99',
  'max',
  'from call p50',
  'rss MB',
  'node cpu s',
  'machine cpu s',
  'kept',
]

/** The best variant of each contender is marked; the others stay in sight, and so does whatever failed. */
export function formatStandings(standings: readonly Standing[]): string {
  const yardstick = bestOf(standings, 'graphile-worker')?.processing
  return formatTable(
    HEAD,
    standings.map((standing) => {
      const { processing, scheduling, latencyMs } = standing
      const label = `${standing.isBest ? '*' : ' '} ${standing.name} (${standing.settings})`
      return [
        standing.failures.length > 0 ? `${label} FAILED ${standing.failures.length}x` : label,
        formatCount(processing.median),
        formatCount(processing.best),
        formatRatio(processing.median / (yardstick?.median ?? Number.NaN)),
        formatRatio(processing.best / (yardstick?.best ?? Number.NaN)),
        formatCount(scheduling.median),
        formatCount(scheduling.best),
        formatFigure(latencyMs.p50),
        formatFigure(latencyMs.p99),
        formatFigure(latencyMs.max),
        formatFigure(standing.latencyFromCallP50Ms),
        formatCount(standing.rssPeakMb),
        formatFigure(standing.processingCpuSeconds, 2),
        formatFigure(standing.processingMachineCpuSeconds, 2),
        standing.kept ?? 'none',
      ]
    }),
  )
}

export function judge(standings: readonly Standing[]): Bar[] {
  const own = bestOf(standings, 'postrider')
  const embedded = bestOf(standings, 'postrider embedded')
  const graphile = bestOf(standings, 'graphile-worker')
  const missing = Number.NaN
  const overGraphile = (own?.processing.median ?? missing) / (graphile?.processing.median ?? missing)
  const embeddedShare = (embedded?.processing.median ?? missing) / (own?.processing.median ?? missing)
  const scheduling = own?.scheduling.median ?? missing
  const start = own?.latencyMs.p50 ?? missing
  return [
    {
      name: "processing at least 1.5 times graphile-worker's best",
      value: formatRatio(overGraphile),
      pass: overGraphile >= 1.5,
    },
    {
      name: 'embedded at least 0.5 times our own on PostgreSQL',
      value: formatRatio(embeddedShare),
      pass: embeddedShare >= 0.5,
    },
    { name: 'scheduling at least 50,000/s in bulk', value: `${formatCount(scheduling)}/s`, pass: scheduling >= 50_000 },
    { name: 'schedule to start under 10 ms at p50', value: `${formatFigure(start)} ms`, pass: start < 10 },
  ]
}
