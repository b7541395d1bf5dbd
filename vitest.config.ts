import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.js'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/services/global-setup.ts'],
    setupFiles: ['test/support/leak-check.ts'],
    // A process per file: what a file leaks, or kills, or sets in the environment, stays its own.
    pool: 'forks',
    // One more than CI has processors: many tests wait, for a lease to run out or a server to come back.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Vitest compiles what a test imports, but not what it starts: worker threads and child processes.
    execArgv: ['--import', new URL('./test/support/load-typescript.mjs', import.meta.url).href],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A second, which is vitest's own, is a guess about how busy the machine is.
    expect: { poll: { timeout: 30_000, interval: 50 } },
    // Dropping databases and stopping servers; past this the guardians do it.
    teardownTimeout: 30_000,
    // A forgotten `.only` would pass for the whole suite, on a laptop as much as in CI.
    allowOnly: false,
    dangerouslyIgnoreUnhandledErrors: false,
  },
})
