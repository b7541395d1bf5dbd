/**
 * `npm test`: runs vitest with the given arguments and ends with one line that people and programs can rely on:
 * `N passed, M failed`, and `, K skipped` if any were.
 *
 * Vitest runs as a process of its own, because that line is owed also when vitest is interrupted, crashes or is killed,
 * and in a process group of its own, so that nothing it started outlives it.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findRunningService } from './support/services/acquire-service.js'
import { postgresKind } from './support/services/postgres.js'
import { dropAbandonedDatabases } from './support/services/run-databases.js'
import { formatTally, type Tally, tallyFileVariable } from './support/tally.js'

type Interruption = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

const directory = mkdtempSync(join(tmpdir(), 'postrider-tally-'))
const tallyFile = join(directory, 'tally.json')
let interruption = null as Interruption | null

const exitCode = await runVitest(process.argv.slice(2))
const tally = readTally()
rmSync(directory, { recursive: true, force: true })
// Vitest also fails for reasons that are no test: the set-up failed, no file matched, it crashed.
if (exitCode !== 0 && tally.failed === 0 && !interruption) tally.failed = 1
if (exitCode === null || interruption) await dropWhatVitestCouldNot()
if (interruption) process.stdout.write(`Interrupted by ${interruption}; not all tests ran.\n`)
process.exitCode = decideExitCode()
process.stdout.write(`${formatTally(tally)}\n`)

/** Vitest's exit code, or null when a signal ended it. */
function runVitest(args: string[]): Promise<number | null> {
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
  const ownReporter = fileURLToPath(new URL('./support/tally-reporter.ts', import.meta.url))
  const reporters = [`--reporter=${ownReporter}`]
  // Naming a reporter replaces vitest's default one, so it has to be named too, unless the caller chose another.
  if (!args.some((arg) => arg.startsWith('--reporter'))) reporters.unshift('--reporter=default')
  const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...args], {
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, [tallyFileVariable]: tallyFile },
  })
  const signalGroup = (signal: NodeJS.Signals) => {
    try {
      if (child.pid) process.kill(-child.pid, signal)
    } catch {
      // The group is empty already.
    }
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // Asked a second time, whoever asks is done waiting.
      signalGroup(interruption ? 'SIGKILL' : signal)
      interruption ??= signal
      setTimeout(() => signalGroup('SIGKILL'), 5000).unref()
    })
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => {
      signalGroup('SIGKILL')
      resolve(code)
    })
  })
}

function readTally(): Tally {
  try {
    return JSON.parse(readFileSync(tallyFile, 'utf8')) as Tally
  } catch {
    return { passed: 0, failed: 0, skipped: 0 }
  }
}

/** An interrupted vitest leaves its databases on a server that is not ours; private servers have their guardians. */
async function dropWhatVitestCouldNot(): Promise<void> {
  try {
    const url = await findRunningService(postgresKind)
    if (url !== null) await dropAbandonedDatabases(url)
  } catch (error) {
    process.stderr.write(`Databases of this run are left for the next one to drop: ${(error as Error).message}\n`)
  }
}

function decideExitCode(): number {
  if (interruption) return 128 + constants.signals[interruption]
  return tally.failed > 0 || tally.passed === 0 ? 1 : 0
}
