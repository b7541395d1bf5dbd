import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.js'
import { QUICK_START } from './test/support/quick-start.js'
import { NOT_SHARING, SHARED_PROCESS, SHARING } from './test/support/sharing.js'

const common = {
  setupFiles: ['test/support/leak-check.ts'],
  pool: 'forks',
  // One more than CI has processors: many tests wait, for a lease to run out or a server to come back. With two more, two
  // processors were busy all the time, and the suite was no faster.
  maxWorkers: 3,
  // Twice what the longest takes on two busy cores: a test that hangs is worth the wait, one that is only slow must not fail.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // A second, which is vitest's own, is a guess about how busy the machine is.
  expect: { poll: { timeout: 60_000, interval: 50 } },
} satisfies TestProjectInlineConfiguration['test']

// Vitest compiles what a test imports, but not what it starts: worker threads and child processes.
const execArgv = ['--import', new URL('./test/support/load-typescript.mjs', import.meta.url).href]
const quick = [QUICK_START, ...execArgv]

const shared = SHARING.map((name) => `test/${name}/**/*.test.ts`)

export default defineConfig({
  test: {
    globalSetup: ['test/support/services/global-setup.ts'],
    sequence: { sequencer: LongestFirst },
    // Dropping databases and stopping servers; past this the guardians do it.
    teardownTimeout: 30_000,
    // A forgotten `.only` would pass for the whole suite, on a laptop as much as in CI.
    allowOnly: false,
    dangerouslyIgnoreUnhandledErrors: false,
    projects: [
      {
        test: {
          ...common,
          name: 'shared',
          include: shared,
          exclude: NOT_SHARING,
          isolate: false,
          execArgv,
          env: { [SHARED_PROCESS]: '1' },
        },
      },
      // A process per file: what a file leaks, or kills, or sets in the environment, stays its own.
      {
        test: {
          ...common,
          name: 'alone',
          include: [`test/!(${SHARING.join('|')})/**/*.test.ts`, 'test/*.test.ts', ...NOT_SHARING],
          isolate: true,
          execArgv: quick,
        },
      },
    ],
  },
})
