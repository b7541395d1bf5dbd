import { randomBytes } from 'node:crypto'
import { loadavg } from 'node:os'
import { withAdminConnection } from '../../test/support/services/admin-connection.js'
import type { Bar } from '../support/bars.js'
import { median } from '../support/statistics.js'
import { formatCount, formatFigure, formatTable } from '../support/table.js'
import { failuresOf, type House, measuredOf, report, type Report } from './house.js'
import type { Posting, PostTask } from './post-role.js'
import { startRole } from './start-role.js'

/** Accepting by the API: one process serves, another one posts, and each answer comes after its commit. */
export interface Accepting {
  readonly loadBefore: number
  readonly single: Posting
  readonly batch: Posting
  /** Of the serving process, for both together. */
  readonly cpuSeconds: number
  readonly rssPeakMb: number
}

export interface AcceptLoad {
  readonly rounds: number
  readonly singles: number
  /** Emails, not posts. */
  readonly batched: number
  readonly inFlight: number
}

const BATCH = 100

export async function measureAccepting(house: House, load: AcceptLoad): Promise<Report<Accepting>[]> {
  const reports: Report<Accepting>[] = []
  for (let round = 0; round < load.rounds && !house.signal.aborted; round++) {
    const found = await report(() => acceptOnce(house, load))
    reports.push(found)
    console.log(`round ${round + 1}  accept: ${describe(found)}`)
  }
  return reports
}

const acceptOnce = (house: House, { singles, batched, inFlight }: AcceptLoad): Promise<Accepting> =>
  house.withGround(async (ground) => {
    const loadBefore = loadavg()[0]!
    const apiKey = `pr_bench_${randomBytes(24).toString('hex')}`
    const server = startRole('serve', { place: { ...ground, smtp: null }, apiKey }, house.rules('accept'))
    try {
      const { url } = await server.ready
      const post = (load: Pick<PostTask, 'emails' | 'batch'>) => postAll(house, { url, apiKey, inFlight, ...load })
      const single = await post({ emails: singles, batch: 1 })
      await requireRows(ground.databaseUrl, single.ids)
      const batch = await post({ emails: batched, batch: BATCH })
      await requireRows(ground.databaseUrl, single.ids + batch.ids)
      server.stop()
      return { loadBefore, single, batch, ...(await server.result) }
    } finally {
      await server.exit()
    }
  })

async function postAll(house: House, task: PostTask): Promise<Posting> {
  const posting = startRole('post', task, house.rules())
  try {
    return await posting.result
  } finally {
    await posting.exit()
  }
}

/** An answer without a row would be a lie, and a row without an answer an email nobody asked for. */
async function requireRows(databaseUrl: string, answered: number): Promise<void> {
  const rows = await withAdminConnection(databaseUrl, async (client) => {
    const found = await client.query<{ messages: number; actions: number }>(
      `select (select count(*)::int from postrider.messages) as messages,
         (select count(*)::int from postrider.scheduled_actions where type = 'send') as actions`,
    )
    return found.rows[0]!
  })
  if (rows.messages !== answered || rows.actions !== answered)
    throw new Error(`${answered} emails were answered with 202, but the database has ${JSON.stringify(rows)}.`)
}

const describe = (found: Report<Accepting>): string =>
  'failure' in found
    ? `FAILED: ${found.failure}`
    : `${formatCount(found.measured.single.emailsPerSecond)} single posts/s, ` +
      `${formatCount(found.measured.batch.emailsPerSecond)} emails/s in batches of ${BATCH} ` +
      `(load ${formatFigure(found.measured.loadBefore)})`

export function formatAccepting(reports: readonly Report<Accepting>[]): string {
  const seen = measuredOf(reports)
  const row = (name: string, kind: 'single' | 'batch') => {
    const middle = (figure: (posting: Posting) => number) => median(seen.map((one) => figure(one[kind])))
    return [
      name,
      formatCount(middle((p) => p.emailsPerSecond)),
      formatCount(Math.max(...seen.map((one) => one[kind].emailsPerSecond))),
      formatFigure(middle((p) => p.answerMs.p50)),
      formatFigure(middle((p) => p.answerMs.p99)),
      formatFigure(Math.max(...seen.map((one) => one[kind].answerMs.max))),
    ]
  }
  const failures = failuresOf(reports).length
  return formatTable(
    [failures > 0 ? `accept FAILED ${failures}x` : 'accept', 'emails/s', 'best', 'answer p50 ms', 'p99', 'max'],
    [row('single posts', 'single'), row(`batches of ${BATCH}`, 'batch')],
  )
}

const SINGLES_PER_SECOND = 1_000
const BATCHED_PER_SECOND = 10_000

export function judgeAccepting(reports: readonly Report<Accepting>[]): Bar[] {
  const seen = failuresOf(reports).length > 0 ? [] : measuredOf(reports)
  const single = median(seen.map((one) => one.single.emailsPerSecond))
  const batch = median(seen.map((one) => one.batch.emailsPerSecond))
  return [
    {
      name: `accepting at least ${formatCount(SINGLES_PER_SECOND)} single posts/s`,
      value: `${formatCount(single)}/s`,
      pass: single >= SINGLES_PER_SECOND,
    },
    {
      name: `accepting at least ${formatCount(BATCHED_PER_SECOND)} emails/s in batches of ${BATCH}`,
      value: `${formatCount(batch)}/s`,
      pass: batch >= BATCHED_PER_SECOND,
    },
  ]
}
