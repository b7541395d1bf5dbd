import { parseArgs } from 'node:util'
import type * as EndpointsModule from '../src/http/endpoints.js'
import type { Postrider } from '../src/index.js'
import { plainError } from '../test/support/services/plain-error.js'
import { ask, openForCampaigns } from './campaign/campaign-ground.js'
import { prepareGround } from './dashboard/ground.js'
import { type Reads, readsOf } from './dashboard/reads.js'
import { type Bar, formatBars } from './support/bars.js'
import { openBenchDatabases } from './support/bench-databases.js'
import { compilePostrider } from './support/compile-postrider.js'
import { describeMachine, readPostgresSettings } from './support/machine.js'
import { writeResults } from './support/results.js'
import { median } from './support/statistics.js'
import { formatCount, formatFigure, formatTable } from './support/table.js'

const MOST_MS = 200
const HOURS = 24

/**
 * Everything that screens and API clients read, on a busy system with a million emails: no answer may take long, whatever
 * is asked for, how far back, or whether there is any. A path that nobody listed here ends the run: it would be the one.
 *
 * Beside it the obvious statement for the first screen's numbers: every email of the workspace grouped by its state.
 */
export async function run(args: string[]): Promise<void> {
  const { emails, rounds } = readSettings(args)
  const machine = describeMachine()
  const databases = await openBenchDatabases()
  const compiled = await compilePostrider()
  try {
    const postgres = await readPostgresSettings(databases.adminUrl)
    console.log(`machine  ${JSON.stringify(machine)}\npostgres ${JSON.stringify(postgres)}\n`)
    const databaseUrl = await databases.create('dashboard')
    const place = { postriderUrl: compiled.url, databaseUrl, dataDirectory: '', smtp: null }
    const postrider = await openForCampaigns(place)
    try {
      console.log(`${formatCount(emails)} emails of ${HOURS} hours`)
      const ground = await prepareGround(postrider, emails, HOURS)
      await databases.checkpoint()
      const { ENDPOINTS } = (await import(`${compiled.url}http/endpoints.js`)) as typeof EndpointsModule
      const paths = ENDPOINTS.filter(({ method }) => method === 'get').map(({ path }) => path)
      const found = await measure(postrider, await readsOf(postrider, ground, paths), rounds)
      const naive = await countNaively(postrider, rounds)
      const worst = found.toSorted((a, b) => b.worstMs - a.worstMs)
      const shown = [...worst, { path: '(naive) count every email by state', middleMs: naive, worstMs: naive }]
      console.log(
        formatTable(
          ['GET', 'middle ms', 'worst ms'],
          shown.map(({ path, middleMs, worstMs }) => [path, formatFigure(middleMs), formatFigure(worstMs)]),
        ),
      )
      const counting = found.find(({ path }) => path === '/admin/email-counts')!
      const bars: Bar[] = [
        {
          name: `no read over ${MOST_MS} ms`,
          value: `${formatFigure(worst[0]!.worstMs)} ms (${worst[0]!.path})`,
          pass: worst[0]!.worstMs <= MOST_MS,
        },
        {
          name: 'counts by state, less than counting every email',
          value: `${formatFigure(counting.middleMs)} of ${formatFigure(naive)} ms`,
          pass: counting.middleMs < naive,
        },
      ]
      console.log(`\n${formatBars(bars)}\n`)
      console.log(writeResults('dashboard', { machine, postgres, settings: { emails, rounds }, bars, naive, found }))
    } finally {
      await postrider.stop()
    }
  } finally {
    compiled.remove()
    await databases.close()
  }
}

interface Seen {
  readonly path: string
  readonly middleMs: number
  readonly worstMs: number
}

/** The first time counts like any other: somebody opens that screen first. */
async function measure(postrider: Postrider, reads: Reads, rounds: number): Promise<Seen[]> {
  const seen: Seen[] = []
  for (const path of reads) {
    const took: number[] = []
    for (let i = 0; i < rounds; i++) {
      const from = performance.now()
      await ask(postrider, 'GET', path)
      took.push(performance.now() - from)
    }
    seen.push({ path, middleMs: median(took), worstMs: Math.max(...took) })
  }
  return seen
}

async function countNaively({ context: { db } }: Postrider, rounds: number): Promise<number> {
  const took: number[] = []
  for (let i = 0; i < rounds; i++) {
    const from = performance.now()
    await db.query(`select state, attempts > 0, count(*) from postrider.scheduled_actions
      where type = 'send' group by 1, 2`)
    took.push(performance.now() - from)
  }
  return median(took)
}

function readSettings(args: string[]) {
  const { values } = parseArgs({
    args,
    options: { emails: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '5' } },
  })
  return { emails: count(values.emails), rounds: count(values.rounds) }
}

function count(text: string): number {
  if (!/^[1-9]\d*$/.test(text.trim())) throw plainError(`"${text}" is not a whole number of at least 1.`)
  return Number(text)
}
