import { parseArgs } from 'node:util'
import { type ClaimGround, prepareGround } from './claim-cost/ground.js'
import { CLAIM, explainRound, makeDue, measureRound, PROMOTION, type Round } from './claim-cost/measure-round.js'
import { formatSizes, judge, summarize } from './claim-cost/summary.js'
import { formatBars } from './support/bars.js'
import { openBenchDatabases } from './support/bench-databases.js'
import { describeMachine, readPostgresSettings } from './support/machine.js'
import { writeResults } from './support/results.js'
import { formatCount } from './support/table.js'
import { untilSignal } from './support/until-signal.js'

/**
 * What a claim and a promotion cost beside more and more actions that are none of their business: history and future.
 *
 * One database per size, all built first and then visited in turn, so that a noisy minute hits all sizes alike. Every
 * round leaves as much due as it found.
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      sizes: { type: 'string', default: '10000,1000000,10000000' },
      due: { type: 'string', default: '20000' },
      rounds: { type: 'string', default: '20' },
      /** Rounds before the figures count, until caches and plans are warm. */
      warmup: { type: 'string', default: '3' },
    },
  })
  const sizes = values.sizes
    .split(',')
    .map(Number)
    .toSorted((a, b) => a - b)
  const signal = untilSignal()
  const machine = describeMachine()
  const databases = await openBenchDatabases()
  const grounds: ClaimGround[] = []
  try {
    const postgres = await readPostgresSettings(databases.adminUrl)
    console.log(`machine  ${JSON.stringify(machine)}`)
    console.log(`postgres ${JSON.stringify(postgres)}\n`)
    for (const size of sizes) {
      const from = performance.now()
      const ground = await prepareGround(await databases.create(String(size)), size, signal)
      grounds.push(ground)
      await makeDue(ground, Number(values.due))
      console.log(`${formatCount(size)} rows made in ${Math.round((performance.now() - from) / 1_000)} s`)
    }
    await databases.checkpoint()

    const cursors = new Map<ClaimGround, string>()
    const rounds = new Map<ClaimGround, Round[]>(grounds.map((ground) => [ground, []]))
    for (let round = -Number(values.warmup); round < Number(values.rounds); round++)
      for (const ground of grounds) {
        signal.throwIfAborted()
        const measured = await measureRound(ground, cursors)
        if (round >= 0) rounds.get(ground)!.push(measured)
      }

    const summaries = []
    const plans: Record<string, object> = {}
    for (const ground of grounds) {
      summaries.push(summarize(ground.size, await readGigabytes(ground), rounds.get(ground)!))
      plans[ground.size] = await explainRound(ground)
    }
    const bars = judge(summaries)
    console.log(`\nclaims of ${CLAIM} and promotions of ${PROMOTION}, with ${formatCount(Number(values.due))} due\n`)
    console.log(`${formatSizes(summaries)}\n`)
    console.log(`${formatBars(bars)}\n`)
    const samples = Object.fromEntries(grounds.map((ground) => [ground.size, rounds.get(ground)]))
    console.log(writeResults('claim-cost', { machine, postgres, due: values.due, summaries, bars, plans, samples }))
  } finally {
    for (const ground of grounds) await ground.close()
    await databases.close()
  }
}

async function readGigabytes({ db }: ClaimGround): Promise<number> {
  const { rows } = await db.query<{ bytes: number }>(
    `select pg_total_relation_size('postrider.scheduled_actions')::float8 as bytes`,
  )
  return rows[0]!.bytes / 2 ** 30
}
