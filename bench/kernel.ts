import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { acquireService } from '../test/support/services/acquire-service.js'
import { plainError } from '../test/support/services/plain-error.js'
import { redisKind } from '../test/support/services/redis.js'
import { CONTENDER_NAMES, type ContenderName, describeSettings, entriesOf, type Entry } from './kernel/entries.js'
import type { Load } from './kernel/measure.js'
import { describeRedis } from './kernel/redis-settings.js'
import { runInChild } from './kernel/run-in-child.js'
import { formatStandings, judge, rank, type Run } from './kernel/summary.js'
import { formatBars } from './support/bars.js'
import { openBenchDatabases } from './support/bench-databases.js'
import { compilePostrider } from './support/compile-postrider.js'
import { describeMachine, readPostgresSettings } from './support/machine.js'
import { writeResults } from './support/results.js'
import { formatCount, formatFigure } from './support/table.js'
import { untilSignal } from './support/until-signal.js'

/**
 * Jobs that do nothing, end to end, through Postrider and its peers: what remains is the cost of the queue itself.
 *
 * All variants of all contenders run once per round, each round in another order, so that a noisy minute hits whoever
 * is running then and not the same one every time.
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      n: { type: 'string', default: '100000' },
      rounds: { type: 'string', default: '3' },
      rate: { type: 'string', default: '200' },
      seconds: { type: 'string', default: '10' },
      timeout: { type: 'string', default: '600' },
      /** Comma-separated names, to look at some contenders only. */
      only: { type: 'string', default: CONTENDER_NAMES.join(',') },
      /** Leave CPU profiles here. */
      profile: { type: 'string' },
    },
  })
  const load: Load = {
    jobs: Number(values.n),
    steadyPerSecond: Number(values.rate),
    steadySeconds: Number(values.seconds),
  }
  const entries = entriesOf(values.only.split(',').map(contenderName))
  const signal = untilSignal()
  const machine = describeMachine()
  const databases = await openBenchDatabases()
  const redis = await acquireService(redisKind)
  const runs: Run[] = []
  const compiled = await compilePostrider()
  try {
    const postgres = await readPostgresSettings(databases.adminUrl)
    const redisSettings = await describeRedis(redis.url)
    console.log(`${formatCount(load.jobs)} jobs, then ${load.steadyPerSecond}/s for ${load.steadySeconds} s`)
    console.log(`machine  ${JSON.stringify(machine)}`)
    console.log(`postgres ${JSON.stringify(postgres)}`)
    console.log(`redis    ${JSON.stringify(redisSettings)}\n`)

    for (let round = 0; round < Number(values.rounds); round++) {
      for (const entry of orderOf(entries, round)) {
        if (signal.aborted) break
        const suffix = String(runs.length)
        const directory = mkdtempSync(join(tmpdir(), 'postrider-bench-'))
        try {
          const databaseUrl = await databases.create(suffix)
          await databases.checkpoint()
          const report = await runInChild(
            { entry, load, ground: { databaseUrl, directory, redisUrl: redis.url, postriderUrl: compiled.url } },
            { timeoutMs: Number(values.timeout) * 1_000, signal, profileDirectory: values.profile ?? null },
          )
          runs.push({ round, entry, report })
          const outcome =
            'failure' in report
              ? `FAILED: ${report.failure}`
              : `${formatCount(report.measurement.processing.perSecond)}/s processed, ` +
                `${formatCount(report.measurement.scheduling.perSecond)}/s scheduled (load ${formatFigure(report.measurement.loadBefore)})`
          console.log(`round ${round + 1}  ${entry.name} (${describeSettings(entry)}): ${outcome}`)
        } finally {
          await databases.drop(suffix)
          rmSync(directory, { recursive: true, force: true })
        }
      }
    }

    if (signal.aborted) {
      process.exitCode = 1
      console.log(`\nINTERRUPTED: ${(signal.reason as Error).message} These figures are not a comparison.`)
    }
    const standings = rank(runs)
    const bars = judge(standings)
    console.log(`\n${formatStandings(standings)}\n`)
    console.log('* the best settings of each contender; rates and p50/p99 are medians over the rounds.')
    console.log('  "machine cpu s" counts everybody on this machine while the backlog was processed.\n')
    console.log(`${formatBars(bars)}\n`)
    console.log(
      writeResults('kernel', {
        interrupted: signal.aborted,
        machine,
        postgres,
        redis: redisSettings,
        load,
        standings,
        bars,
        runs,
      }),
    )
  } finally {
    compiled.remove()
    await databases.close()
    await redis.release()
  }
}

/** Another one begins each round, and every other round runs backwards, so that nobody always follows the same one. */
function orderOf(entries: readonly Entry[], round: number): Entry[] {
  const first = (round * 4) % entries.length
  const rotated = [...entries.slice(first), ...entries.slice(0, first)]
  return round % 2 === 0 ? rotated : rotated.toReversed()
}

function contenderName(text: string): ContenderName {
  const name = CONTENDER_NAMES.find((known) => known === text.trim())
  if (!name) throw plainError(`There is no contender "${text}". There are ${CONTENDER_NAMES.join(', ')}.`)
  return name
}
