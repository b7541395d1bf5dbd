import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bar } from '../support/bars.js'
import { readStolenMs } from '../support/machine.js'
import { median } from '../support/statistics.js'
import { formatCount, formatFigure, formatTable } from '../support/table.js'
import { failuresOf, type House, measuredOf, report, type Report } from './house.js'
import { startRole } from './start-role.js'
import type { Work } from './work-role.js'

/**
 * From due to sent while emails fall due steadily. They are accepted before, so that what is measured is the worker at
 * half of its load, and not how three busy processes share two cores. Beside it bare nodemailer at half of its own load,
 * which says how evenly the machine runs: it waits for no disk and for no other process but the mail server.
 */
export interface SteadyLoad {
  readonly rounds: number
  readonly perSecond: number
  /** Null when nobody measured what nodemailer can do. */
  readonly nodemailerPerSecond: number | null
  readonly seconds: number
  readonly connections: number
}

type Latency = Omit<Work, 'samples'>

export type Steady = Latency & {
  readonly loadBefore: number
  /** While it was looked at. At p99 that is much: a hundredth of twenty seconds are 200 ms. */
  readonly stolenMs: number | null
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
  for (let round = 0; round < load.rounds; round++) {
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
    const task = { place, emails, warmUpSeconds: WARM_UP_SECONDS, sampleMemory: false }
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
    const task = { smtp: { port, connections }, emails, perSecond, warmUpSeconds: WARM_UP_SECONDS }
    const sender = startRole('sendSteadily', task, house.rules('nodemailer latency'))
    try {
      await sender.ready
      return await watchUntil(Date.now() + (WARM_UP_SECONDS + seconds) * 1_000, seconds, () => sender.result)
    } finally {
      await sender.exit()
    }
  })
}

/** What the host takes away is looked at for as long as the emails are: the last seconds. */
async function watchUntil(lastDueAt: number, seconds: number, end: () => Promise<Latency>): Promise<Steady> {
  const loadBefore = loadavg()[0]!
  await sleep(Math.max(0, lastDueAt - seconds * 1_000 - Date.now()))
  const before = readStolenMs()
  await sleep(Math.max(0, lastDueAt - Date.now()))
  const after = readStolenMs()
  const { dueToSentMs, dueToSentFromTheStartMs } = await end()
  return {
    loadBefore,
    stolenMs: before === null || after === null ? null : after - before,
    dueToSentMs,
    dueToSentFromTheStartMs,
  }
}

const describe = (found: Report<Steady>): string =>
  'failure' in found
    ? `FAILED: ${found.failure}`
    : `p50 ${formatFigure(found.measured.dueToSentMs.p50)} ms, p99 ${formatFigure(found.measured.dueToSentMs.p99)} ms ` +
      `(load ${formatFigure(found.measured.loadBefore)}, ${found.measured.stolenMs ?? '?'} ms stolen by the host)`

export function formatLatency(reports: SteadyReports, { perSecond, nodemailerPerSecond }: SteadyLoad): string {
  const row = (name: keyof SteadyReports, rate: number) => {
    const seen = measuredOf(reports[name])
    const failures = failuresOf(reports[name]).length
    const middle = (figure: (steady: Steady) => number) => formatFigure(median(seen.map(figure)))
    return [
      `${name} at ${formatCount(rate)} emails/s${failures > 0 ? ` FAILED ${failures}x` : ''}`,
      middle(({ dueToSentMs }) => dueToSentMs.p50),
      middle(({ dueToSentMs }) => dueToSentMs.p99),
      formatFigure(Math.max(...seen.map(({ dueToSentMs }) => dueToSentMs.max))),
      middle(({ dueToSentFromTheStartMs }) => dueToSentFromTheStartMs.p99),
    ]
  }
  return formatTable(
    ['due to sent, at half load', 'p50 ms', 'p99', 'max', 'p99 with warm-up'],
    [row('postrider', perSecond), ...(nodemailerPerSecond === null ? [] : [row('nodemailer', nodemailerPerSecond)])],
  )
}

const P99_MS = 50
export function judgeLatency({ postrider }: SteadyReports, { perSecond }: SteadyLoad): Bar[] {
  const seen = failuresOf(postrider).length > 0 ? [] : measuredOf(postrider)
  const p99 = median(seen.map(({ dueToSentMs }) => dueToSentMs.p99))
  return [
    {
      name: `due to sent under ${P99_MS} ms at p99, at ${formatCount(perSecond)} emails/s`,
      value: `${formatFigure(p99)} ms`,
      pass: p99 < P99_MS,
    },
  ]
}
