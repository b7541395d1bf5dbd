import { parseArgs } from 'node:util'
import type * as EndpointsModule from '../src/http/endpoints.js'
import type { Postrider } from '../src/index.js'
import { planDashboard } from '../test/support/build-dashboard.js'
import { plainError } from '../test/support/services/plain-error.js'
import { ask, openForCampaigns } from './campaign/campaign-ground.js'
import { measureDeeds } from './dashboard/deeds.js'
import { fillSingle } from './dashboard/fill-emails.js'
import { prepareGround } from './dashboard/ground.js'
import { type Reads, readsOf } from './dashboard/reads.js'
import { measureScrolling, PASSWORD } from './dashboard/scroll.js'
import { createStopwatch, type Timed } from './dashboard/time-requests.js'
import type { Place } from './delivery/open-postrider.js'
import { type Bar, formatBars } from './support/bars.js'
import { openBenchDatabases } from './support/bench-databases.js'
import { compilePostrider } from './support/compile-postrider.js'
import { describeMachine, readPostgresSettings } from './support/machine.js'
import { writeResults } from './support/results.js'
import { formatCount, formatFigure, formatRatio, formatTable } from './support/table.js'

const PARTS = ['reads', 'scroll'] as const
type PartName = (typeof PARTS)[number]
const EMAILS: Readonly<Record<PartName, number>> = { reads: 1_000_000, scroll: 100_000 }
const HOURS = 24

const MOST_MS = 200
/** A frame at 60 a second, of which the browser needs some for itself. */
const MOST_WORK_MS = 12
/** Beside so few rows that nothing about them could be slow. */
const FEW_ROWS = 500

/**
 * What the dashboard needs of server and browser. `reads`: everything that screens and API clients read, on a busy system
 * with a million emails, and what they decide about many: no answer may take long, whatever is asked for, how far back, or
 * whether there is any. A path
 * that nobody listed here ends the run: it would be the one. Beside it the obvious statement for the first screen's
 * numbers: every email of the workspace grouped by its state. `scroll`: the email queue in a browser with a hundred
 * thousand rows, beside itself with a few.
 */
export async function run(args: string[]): Promise<void> {
  const settings = readSettings(args)
  const machine = describeMachine()
  const databases = await openBenchDatabases()
  const compiled = await compilePostrider()
  try {
    const postgres = await readPostgresSettings(databases.adminUrl)
    console.log(`machine  ${JSON.stringify(machine)}\npostgres ${JSON.stringify(postgres)}\n`)
    const parts: Part[] = []
    for (const name of settings.only) {
      const databaseUrl = await databases.create(`dashboard_${name}`)
      const place = { postriderUrl: compiled.url, databaseUrl, dataDirectory: '', smtp: null }
      const emails = settings.emails ?? EMAILS[name]
      console.log(`${name}: ${formatCount(emails)} emails of ${HOURS} hours`)
      const measure = name === 'reads' ? measureReads : measureScroll
      const part = await measure(place, { emails, rounds: settings.rounds, settle: () => databases.checkpoint() })
      console.log(`\n${part.table}\n`)
      parts.push(part)
    }
    const bars = parts.flatMap((part) => part.bars)
    console.log(`${formatBars(bars)}\n`)
    const found = Object.fromEntries(parts.map(({ name, seen }) => [name, seen]))
    console.log(writeResults('dashboard', { machine, postgres, settings, bars, ...found }))
  } finally {
    compiled.remove()
    await databases.close()
  }
}

interface Part {
  readonly name: PartName
  readonly table: string
  readonly bars: readonly Bar[]
  readonly seen: object
}

interface Load {
  readonly emails: number
  readonly rounds: number
  /** What was written before is written to the disk, so that it is not written while something is measured. */
  readonly settle: () => Promise<void>
}

async function measureReads(place: Place, { emails, rounds, settle }: Load): Promise<Part> {
  const postrider = await openForCampaigns(place)
  try {
    const ground = await prepareGround(postrider, emails, HOURS)
    await settle()
    const { ENDPOINTS } = (await import(`${place.postriderUrl}http/endpoints.js`)) as typeof EndpointsModule
    const paths = ENDPOINTS.filter(({ method }) => method === 'get').map(({ path }) => path)
    const found = await timeReads(postrider, await readsOf(postrider, ground, paths), rounds)
    const naive = await countNaively(postrider, rounds)
    found.push(...(await measureDeeds(postrider, ground)))
    const worst = found.toSorted((a, b) => b.worstMs - a.worstMs)
    const counting = found.find(({ name }) => name === '/admin/email-counts')!
    const undisturbed = found
      .flatMap(({ name, worstUndisturbedMs: ms }) => (ms === null ? [] : [{ name, ms }]))
      .toSorted((a, b) => b.ms - a.ms)
    const never = found.length - undisturbed.length
    return {
      name: 'reads',
      table: formatTable(
        ['request', 'times', 'middle ms', 'worst', 'undisturbed'],
        [...worst, naive].map(({ name, times, middleMs, worstMs, worstUndisturbedMs }) => [
          name,
          formatCount(times),
          formatFigure(middleMs),
          formatFigure(worstMs),
          worstUndisturbedMs === null ? '-' : formatFigure(worstUndisturbedMs),
        ]),
      ),
      bars: [
        {
          name: `no request over ${MOST_MS} ms`,
          value: `${formatFigure(worst[0]!.worstMs)} ms (${worst[0]!.name})`,
          pass: worst[0]!.worstMs <= MOST_MS,
        },
        {
          name: `no request over ${MOST_MS} ms while the host took nothing away`,
          value: `${formatFigure(undisturbed[0]?.ms ?? Number.NaN)} ms (${undisturbed[0]?.name ?? 'none'})${never > 0 ? `, ${never} never were` : ''}`,
          pass: never === 0 && undisturbed[0]!.ms <= MOST_MS,
        },
        {
          name: 'counts by state, less than counting every email',
          value: `${formatFigure(counting.middleMs)} of ${formatFigure(naive.middleMs)} ms`,
          pass: counting.middleMs < naive.middleMs,
        },
      ],
      seen: { naive, found },
    }
  } finally {
    await postrider.stop()
  }
}

async function measureScroll(place: Place, { emails, settle }: Load): Promise<Part> {
  const build = planDashboard()
  await build.make()
  const postrider = await openForCampaigns(place, { adminPassword: PASSWORD, dashboardDirectory: build.directory })
  try {
    await fillSingle(postrider.context.db, { emails, hours: HOURS })
    await postrider.context.db.query('vacuum analyze')
    await settle()
    const found = await measureScrolling(postrider, place.postriderUrl, [FEW_ROWS, emails])
    const [few, many] = [found[0]!, found.at(-1)!]
    return {
      name: 'scroll',
      table: formatTable(
        ['rows', 'frames', 'work ms', 'frame ms', 'p99', 'blank rows', 'jump ms', 'worst'],
        found.map((one) => [
          formatCount(one.rows),
          formatCount(one.frames),
          formatFigure(one.workMs),
          formatFigure(one.frameMs),
          formatFigure(one.p99FrameMs),
          formatCount(one.blankRows),
          formatFigure(one.jumpMs),
          formatFigure(one.worstJumpMs),
        ]),
      ),
      bars: [
        {
          name: `${formatCount(emails)} rows are loaded`,
          value: formatCount(many.rows),
          pass: many.rows === emails,
        },
        {
          name: `a frame is at most ${MOST_WORK_MS} ms of work, or 1.3 times that of ${formatCount(few.rows)} rows`,
          value: `${formatFigure(many.workMs)} ms, ${formatRatio(many.workMs / few.workMs)}`,
          pass: many.workMs <= Math.max(MOST_WORK_MS, 1.3 * few.workMs),
        },
      ],
      seen: { found },
    }
  } finally {
    await postrider.stop()
    build.remove()
  }
}

/** Asked so much more often than wanted, at the most, until the host took nothing meanwhile. */
const PATIENCE = 40

/** The first time counts like any other: somebody opens that screen first. */
async function timeReads(postrider: Postrider, reads: Reads, rounds: number): Promise<Timed[]> {
  const seen: Timed[] = []
  for (const path of reads) {
    const stopwatch = createStopwatch(path)
    for (let i = 0; i < rounds || (!stopwatch.wasUndisturbed && i < rounds + PATIENCE); i++) {
      // What is computed for longer than somebody waits is asked for again.
      for (let complete = false; !complete;) {
        const answer = await stopwatch.time(() => ask(postrider, 'GET', path))
        complete = !path.includes('within_ms') || (JSON.parse(answer) as { complete: boolean }).complete
      }
    }
    seen.push(stopwatch.read())
  }
  return seen
}

async function countNaively({ context: { db } }: Postrider, rounds: number): Promise<Timed> {
  const stopwatch = createStopwatch('(naive) count every email by state')
  for (let i = 0; i < rounds; i++)
    await stopwatch.time(() =>
      db.query(`select state, attempts > 0, count(*) from postrider.scheduled_actions
        where type = 'send' group by 1, 2`),
    )
  return stopwatch.read()
}

function readSettings(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      /** Comma-separated parts, to look at some only. */
      only: { type: 'string', default: PARTS.join(',') },
      /** Of every part, instead of what each has. */
      emails: { type: 'string' },
      rounds: { type: 'string', default: '5' },
    },
  })
  const only = values.only.split(',').map((text) => {
    const name = PARTS.find((one) => one === text.trim())
    if (!name) throw plainError(`There is no part "${text}". There are ${PARTS.join(', ')}.`)
    return name
  })
  return { only, emails: values.emails === undefined ? null : count(values.emails), rounds: count(values.rounds) }
}

function count(text: string): number {
  if (!/^[1-9]\d*$/.test(text.trim())) throw plainError(`"${text}" is not a whole number of at least 1.`)
  return Number(text)
}
