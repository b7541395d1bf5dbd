import type { Bar } from '../support/bars.js'
import { median } from '../support/statistics.js'
import { formatCount, formatRatio, formatTable } from '../support/table.js'
import type { Delivery } from './deliver-role.js'
import { CONTENDER_NAMES, type ContenderName, describeEntry, type Entry } from './entries.js'
import { failuresOf, measuredOf } from './house.js'
import type { DeliveryRun } from './measure-delivery.js'

/** One contender with one number of connections, over all rounds. */
export interface Standing {
  readonly entry: Entry
  /** Of the contender's variants the one with the highest median. */
  readonly isBest: boolean
  readonly failures: readonly string[]
  readonly perSecond: { readonly median: number; readonly best: number }
  readonly acceptedPerSecond: number
  /** Of processor time in its own process, and of everybody on the machine meanwhile. */
  readonly ownMicrosecondsPerEmail: number
  readonly machineMicrosecondsPerEmail: number
  readonly rssPeakMb: number
}

export function rank(runs: readonly DeliveryRun[], entries: readonly Entry[]): Standing[] {
  return CONTENDER_NAMES.flatMap((name) => {
    const standings = entries.filter((entry) => entry.name === name).map((entry) => toStanding(entry, runs))
    // A variant that failed once is not the best of anything.
    const rate = ({ failures, perSecond }: Standing) => (failures.length > 0 ? 0 : perSecond.median)
    const best = Math.max(...standings.map(rate))
    return standings.map((standing) => ({ ...standing, isBest: best > 0 && rate(standing) === best }))
  })
}

function toStanding(entry: Entry, runs: readonly DeliveryRun[]): Standing {
  const own = runs.filter((run) => describeEntry(run.entry) === describeEntry(entry)).map((run) => run.report)
  const seen = measuredOf(own)
  const middle = (figure: (delivery: Delivery) => number) => median(seen.map(figure))
  const most = (figure: (delivery: Delivery) => number) => Math.max(...seen.map(figure))
  return {
    entry,
    isBest: false,
    failures: failuresOf(own),
    perSecond: { median: middle((d) => d.perSecond), best: most((d) => d.perSecond) },
    acceptedPerSecond: middle((d) => d.acceptedPerSecond ?? Number.NaN),
    ownMicrosecondsPerEmail: middle((d) => perEmail(d, d.cpuSeconds)),
    machineMicrosecondsPerEmail: middle((d) => perEmail(d, d.machineCpuSeconds)),
    rssPeakMb: most((d) => d.rssPeakMb),
  }
}

const perEmail = ({ perSecond, seconds }: Delivery, cpuSeconds: number) => (cpuSeconds * 1e6) / (perSecond * seconds)

export const bestOf = (standings: readonly Standing[], name: ContenderName): Standing | undefined =>
  standings.find(({ entry, isBest }) => entry.name === name && isBest)

const HEAD = [
  'delivery',
  'emails/s',
  'best',
  'x nodemailer',
  'best/best',
  'accept/s',
  'own µs/email',
  'machine µs/email',
  'rss MB',
]

/** The best variant of each contender is marked; the others stay in sight, and so does whatever failed. */
export function formatStandings(standings: readonly Standing[]): string {
  const yardstick = bestOf(standings, 'nodemailer')?.perSecond
  return formatTable(
    HEAD,
    standings.map(({ entry, isBest, failures, perSecond, ...others }) => {
      const label = `${isBest ? '*' : ' '} ${describeEntry(entry)}`
      return [
        failures.length > 0 ? `${label} FAILED ${failures.length}x` : label,
        formatCount(perSecond.median),
        formatCount(perSecond.best),
        formatRatio(perSecond.median / (yardstick?.median ?? Number.NaN)),
        formatRatio(perSecond.best / (yardstick?.best ?? Number.NaN)),
        formatCount(others.acceptedPerSecond),
        formatCount(others.ownMicrosecondsPerEmail),
        formatCount(others.machineMicrosecondsPerEmail),
        formatCount(others.rssPeakMb),
      ]
    }),
  )
}

const OVER_NODEMAILER = 2.5

export function judgeDelivery(standings: readonly Standing[]): Bar[] {
  const rate = (name: ContenderName) => bestOf(standings, name)?.perSecond.median ?? Number.NaN
  const ratio = rate('postrider') / rate('nodemailer')
  return [
    {
      name: `durable delivery at least ${OVER_NODEMAILER} times bare nodemailer's best`,
      value: formatRatio(ratio),
      pass: ratio >= OVER_NODEMAILER,
    },
  ]
}
