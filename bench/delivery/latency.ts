import { loadavg } from 'node:os'
import type { Bar } from '../support/bars.js'
import { median, quantile } from '../support/statistics.js'
import { formatCount, formatFigure, formatTable } from '../support/table.js'
import { failuresOf, type House, measuredOf, report, type Report } from './house.js'
import { startRole } from './start-role.js'
import { type HostWatch, watchHost } from './watch-host.js'
import type { Work } from './work-role.js'

/**
 * From due to sent while emails fall due steadily. They are accepted before, so that what is measured is the worker at
 * half of its load, and not how three busy processes share two cores. Beside it bare nodemailer at half of its own load,
 * which says how evenly the machine runs: it waits for no disk and for no other process but the mail server.
 *
 * A machine that shares its processors is taken away for tens of milliseconds, several times a second on bad days, from
 * whoever runs on it. So the emails that fell due while the host took nothing are looked at by themselves as well, those of
 * all rounds together: chosen by what the kernel counted, and never by how long they took. While there are too few of them
 * to say anything about a hundredth, more rounds are run.
 */
export interface SteadyLoad {
  /** At least. */
  readonly rounds: number
  readonly mostRounds: number
  readonly perSecond: number
  /** Null when nobody measured what nodemailer can do. */
  readonly nodemailerPerSecond: number | null
  readonly seconds: number
  readonly connections: number
}

interface Latency {
  readonly emails: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export interface Steady extends Pick<HostWatch, 'stolenMs' | 'busyProcessors'> {
  readonly loadBefore: number
  readonly dueToSentMs: Latency
  /** Each of the emails that fell due while the host took nothing away. */
  readonly undisturbedMs: readonly number[]
  /** The warm-up included. */
  readonly dueToSentFromTheStartMs: Latency
}

export interface SteadyReports {
  readonly postrider: readonly Report<Steady>[]
  readonly nodemailer: readonly Report<Steady>[]
}

/** Not looked at, but kept in the results: a process that has just begun is slower than it will be. */
const WARM_UP_SECONDS = 8

export async function measureLatency(house: House, load: SteadyLoad): Promise<SteadyReports> {
  const reports: { [Name in keyof SteadyReports]: Report<Steady>[] } = { postrider: [], nodemailer: [] }
  const measure = async (name: keyof SteadyReports, perSecond: number, take: typeof workSteadily) => {
    if (house.signal.aborted) return
    const found = await report(() => take(house, { ...load, perSecond }))
    reports[name].push(found)
    console.log(`latency of ${name} at ${formatCount(perSecond)}/s: ${describe(found)}`)
  }
  const wantsMore = () => undisturbedOf(reports.postrider).emails < ENOUGH
  for (let round = 0; round < load.rounds || (round < load.mostRounds && wantsMore()); round++) {
    await measure('postrider', load.perSecond, workSteadily)
    if (load.nodemailerPerSecond !== null) await measure('nodemailer', load.nodemailerPerSecond, sendSteadily)
  }
  return reports
}

async function workSteadily(house: House, { perSecond, seconds, connections }: SteadyLoad): Promise<Steady> {
  if (!Number.isFinite(perSecond)) throw new Error('delivery gave no figure to take half of.')
  const emails = Math.round(perSecond * (WARM_UP_SECONDS + seconds))
  return house.withSink(emails, async (ground, { port }) => {
    const place = { ...ground, smtp: { port, connections } }
    const feeder = startRole('feed', { place, emails, perSecond }, house.rules())
    let feeding
    try {
      feeding = await feeder.result
    } finally {
      await feeder.exit()
    }
    const task = { place, emails, sampleMemory: false }
    const worker = startRole('work', task, house.rules('latency'))
    try {
      await worker.ready
      return await watchUntil(feeding.lastDueAt, seconds, () => {
        worker.stop()
        return worker.result
      })
    } finally {
      await worker.exit()
    }
  })
}

async function sendSteadily(house: House, { perSecond, seconds, connections }: SteadyLoad): Promise<Steady> {
  const emails = Math.round(perSecond * (WARM_UP_SECONDS + seconds))
  return house.withSink(emails, async (_, { port }) => {
    const task = { smtp: { port, connections }, emails, perSecond }
    const sender = startRole('sendSteadily', task, house.rules('nodemailer latency'))
    try {
      await sender.ready
      return await watchUntil(Date.now() + (WARM_UP_SECONDS + seconds) * 1_000, seconds, () => sender.result)
    } finally {
      await sender.exit()
    }
  })
}

/** The last seconds are looked at: a process that has just begun is slower than it will be. */
async function watchUntil(
  lastDueAt: number,
  seconds: number,
  end: () => Promise<Omit<Work, 'samples'>>,
): Promise<Steady> {
  const loadBefore = loadavg()[0]!
  const from = lastDueAt - seconds * 1_000
  const { stolenMs, busyProcessors, wasQuiet } = await watchHost(from, lastDueAt)
  const { sent } = await end()
  const looked = sent.filter(({ dueAt }) => dueAt >= from)
  return {
    loadBefore,
    stolenMs,
    busyProcessors,
    dueToSentMs: latencyOf(looked.map(({ tookMs }) => tookMs)),
    undisturbedMs: looked.filter(({ dueAt }) => wasQuiet(dueAt)).map(({ tookMs }) => tookMs),
    dueToSentFromTheStartMs: latencyOf(sent.map(({ tookMs }) => tookMs)),
  }
}

const undisturbedOf = (reports: readonly Report<Steady>[]): Latency =>
  latencyOf(measuredOf(reports).flatMap(({ undisturbedMs }) => undisturbedMs))

function latencyOf(took: readonly number[]): Latency {
  return { emails: took.length, p50: quantile(took, 0.5), p99: quantile(took, 0.99), max: quantile(took, 1) }
}

function describe(found: Report<Steady>): string {
  if ('failure' in found) return `FAILED: ${found.failure}`
  const { dueToSentMs: all, undisturbedMs, loadBefore, busyProcessors, stolenMs } = found.measured
  const quiet = latencyOf(undisturbedMs)
  return (
    `p50 ${formatFigure(all.p50)} ms, p99 ${formatFigure(all.p99)} ms; ` +
    `undisturbed p99 ${formatFigure(quiet.p99)} ms of ${formatCount(quiet.emails)} ` +
    `(load ${formatFigure(loadBefore)}, ${formatFigure(busyProcessors)} processors busy, ${stolenMs ?? '?'} ms stolen by the host)`
  )
}

export function formatLatency(reports: SteadyReports, { perSecond, nodemailerPerSecond }: SteadyLoad): string {
  const row = (name: keyof SteadyReports, rate: number) => {
    const seen = measuredOf(reports[name])
    const failures = failuresOf(reports[name]).length
    const quiet = undisturbedOf(reports[name])
    const middle = (figure: (steady: Steady) => number) => formatFigure(median(seen.map(figure)))
    return [
      `${name} at ${formatCount(rate)} emails/s${failures > 0 ? ` FAILED ${failures}x` : ''}`,
      middle(({ dueToSentMs }) => dueToSentMs.p50),
      middle(({ dueToSentMs }) => dueToSentMs.p99),
      formatFigure(Math.max(...seen.map(({ dueToSentMs }) => dueToSentMs.max))),
      middle(({ dueToSentFromTheStartMs }) => dueToSentFromTheStartMs.p99),
      formatFigure(quiet.p99),
      formatCount(quiet.emails),
    ]
  }
  return formatTable(
    ['due to sent, at half load', 'p50 ms', 'p99', 'max', 'p99 with warm-up', 'p99 undisturbed', 'emails of that'],
    [row('postrider', perSecond), ...(nodemailerPerSecond === null ? [] : [row('nodemailer', nodemailerPerSecond)])],
  )
}

const P99_MS = 50
/** Fewer say nothing about a hundredth of them. */
const ENOUGH = 10_000

/** Both: what was seen, and what was seen of us. */
export function judgeLatency({ postrider }: SteadyReports, { perSecond }: SteadyLoad): Bar[] {
  const seen = failuresOf(postrider).length > 0 ? [] : postrider
  const quiet = undisturbedOf(seen)
  const bar = (p99: number, when: string): Bar => ({
    name: `due to sent under ${P99_MS} ms at p99, at ${formatCount(perSecond)} emails/s${when}`,
    value: `${formatFigure(p99)} ms`,
    pass: p99 < P99_MS,
  })
  return [
    bar(median(measuredOf(seen).map(({ dueToSentMs }) => dueToSentMs.p99)), ''),
    bar(
      quiet.emails >= ENOUGH ? quiet.p99 : Number.NaN,
      `, of ${formatCount(quiet.emails)} while the host took nothing away`,
    ),
  ]
}
