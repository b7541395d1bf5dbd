import { writeFileSync } from 'node:fs'
import type { SerializedError } from 'vitest'
import type { Reporter, TestCase, TestModule } from 'vitest/node'
import { type Tally, tallyFileVariable } from './tally.js'

/**
 * Counts for the runner. The file is written anew after every test, because on Ctrl-C vitest leaves without a word to
 * its reporters, and what ran until then should still be counted.
 */
export default class TallyReporter implements Reporter {
  readonly #soFar: Tally = { passed: 0, failed: 0, skipped: 0 }

  onTestCaseResult(test: TestCase): void {
    this.#soFar[outcomeOf(test)] += 1
    write(this.#soFar)
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    write(tallyRun(modules, unhandledErrors.length))
  }
}

/**
 * A failure is a failed test, but also whatever went wrong outside a test: a file that does not load, a hook that
 * throws (whose tests vitest calls skipped), an error nobody handled.
 */
function tallyRun(modules: readonly TestModule[], unhandledErrors: number): Tally {
  const tally: Tally = { passed: 0, failed: unhandledErrors, skipped: 0 }
  for (const module of modules) {
    if (module.errors().length > 0) tally.failed += 1
    for (const suite of module.children.allSuites()) if (suite.errors().length > 0) tally.failed += 1
    for (const test of module.children.allTests()) tally[outcomeOf(test)] += 1
  }
  return tally
}

function outcomeOf(test: TestCase): keyof Tally {
  const { state } = test.result()
  // Still pending when the run is over: it was never started.
  return state === 'pending' ? 'skipped' : state
}

function write(tally: Tally): void {
  const path = process.env[tallyFileVariable]
  if (path) writeFileSync(path, JSON.stringify(tally))
}
