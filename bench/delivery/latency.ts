import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bar } from '../support/bars.js'
import { readStolenMs } from '../support/machine.js'
import { median } from '../support/statistics.js'
import { formatCount, formatFigure, formatTable } from '../support/table.js'
import type { Feeding } from './feed-role.js'
import { failuresOf, type House, measuredOf, report, type Report } from './house.js'
import { startRole } from './start-role.js'
import type { Work } from './work-role.js'

/**
 * From due to sent while emails fall due steadily. They are accepted before, so that what is measured is the worker at
 * half of its load, and not how three busy processes share two cores.
 */
export interface SteadyLoad {
  readonly rounds: number
  readonly perSecond: number
  readonly seconds: number
  readonly connections: number
}

export type Steady = Omit<Work, 'samples'> & {
  readonly loadBefore: number
  readonly feeding: Feeding
  /** While it was looked at. At p99 that is much: a hundredth of twenty seconds are 200 ms. */
  readonly stolenMs: number | null
}

/** Not looked at, but kept in the results: a process that has just begun is slower than it will be. */
const WARM_UP_SECONDS = 8

export async function measureLatency(house: House, load: SteadyLoad): Promise<Report<Steady>[]> {
  const reports: Report<Steady>[] = []
  for (let round = 0; round < load.rounds && !house.signal.aborted; round++) {
    const found = await report(() => workSteadily(house, load))
    reports.push(found)
    console.log(`round ${round + 1}  latency at ${formatCount(load.perSecond)}/s: ${describe(found)}`)
  }
  return reports
}

async function workSteadily(house: House, { perSecond, seconds, connections }: SteadyLoad): Promise<Steady> {
  if (!Number.isFinite(perSecond)) throw new Error('delivery gave no figure to take half of.')
  const emails = Math.round(perSecond * (WARM_UP_SECONDS + seconds))
  return house.withSink(emails, async (ground, { port }) => {
    const loadBefore = loadavg()[0]!
    const place = { ...ground, smtp: { port, connections } }
    const feeder = startRole('feed', { place, emails, perSecond }, house.rules())
    let feeding
    try {
      feeding = await feeder.result
    } finally {
      await feeder.exit()
    }
    const worker = startRole(
      'work',
      { place, emails, warmUpSeconds: WARM_UP_SECONDS, sampleMemory: false },
      house.rules('latency'),
    )
    try {
      await worker.ready
      await sleep(Math.max(0, feeding.lastDueAt - seconds * 1_000 - Date.now()))
      const stolenBefore = readStolenMs()
      await sleep(Math.max(0, feeding.lastDueAt - Date.now()))
      const stolenAfter = readStolenMs()
      worker.stop()
      const { dueToSentMs, dueToSentFromTheStartMs } = await worker.result
      const stolenMs = stolenBefore === null || stolenAfter === null ? null : stolenAfter - stolenBefore
      return { loadBefore, feeding, stolenMs, dueToSentMs, dueToSentFromTheStartMs }
    } finally {
      await worker.exit()
    }
  })
}

const describe = (found: Report<Steady>): string =>
  'failure' in found
    ? `FAILED: ${found.failure}`
    : `p50 ${formatFigure(found.measured.dueToSentMs.p50)} ms, p99 ${formatFigure(found.measured.dueToSentMs.p99)} ms ` +
      `(load ${formatFigure(found.measured.loadBefore)}, ${found.measured.stolenMs ?? '?'} ms stolen by the host)`

export function formatLatency(reports: readonly Report<Steady>[], { perSecond }: SteadyLoad): string {
  const seen = measuredOf(reports)
  const middle = (figure: (steady: Steady) => number) => formatFigure(median(seen.map(figure)))
  const failures = failuresOf(reports).length
  return formatTable(
    [failures > 0 ? `due to sent FAILED ${failures}x` : 'due to sent', 'p50 ms', 'p99', 'max', 'p99 with warm-up'],
    [
      [
        `at ${formatCount(perSecond)} emails/s`,
        middle(({ dueToSentMs }) => dueToSentMs.p50),
        middle(({ dueToSentMs }) => dueToSentMs.p99),
        formatFigure(Math.max(...seen.map(({ dueToSentMs }) => dueToSentMs.max))),
        middle(({ dueToSentFromTheStartMs }) => dueToSentFromTheStartMs.p99),
      ],
    ],
  )
}

const P99_MS = 50
export function judgeLatency(reports: readonly Report<Steady>[], { perSecond }: SteadyLoad): Bar[] {
  const seen = failuresOf(reports).length > 0 ? [] : measuredOf(reports)
  const p99 = median(seen.map(({ dueToSentMs }) => dueToSentMs.p99))
  return [
    {
      name: `due to sent under ${P99_MS} ms at p99, at ${formatCount(perSecond)} emails/s`,
      value: `${formatFigure(p99)} ms`,
      pass: p99 < P99_MS,
    },
  ]
}
