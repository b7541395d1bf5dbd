import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

describe('the last line and the exit code of a run', () => {
  test.each([
    ['one picked by name', ['passing', '-t', 'passes too'], '1 passed, 0 failed, 1 skipped', 0],
    // A failed test, a failed hook with its skipped test, a file that does not load, an error nobody handled.
    ['every kind of failure', ['mixed', 'unloadable', 'unhandled'], '2 passed, 4 failed, 2 skipped', 1],
    ['a forgotten only', ['only'], '0 passed, 1 failed, 1 skipped', 1],
    ['no file matched', ['no-such-file'], '0 passed, 1 failed', 1],
    ['no test matched', ['passing', '-t', 'no such test'], '0 passed, 0 failed, 2 skipped', 1],
    ['a leak', ['leaking'], '1 passed, 1 failed', 1],
  ])('%s', async (_, args, lastLine, exitCode) => {
    const run = startRun(args)
    const [output] = await Promise.all([text(run.stdout), once(run, 'close')])
    expect({ lastLine: output.split('\n').at(-2), exitCode: run.exitCode }).toEqual({ lastLine, exitCode })
  })

  test('interrupted: what ran until then is counted', async () => {
    const run = startRun(['hanging'])
    let output = ''
    run.stdout.on('data', (chunk: Buffer) => {
      if (!output.includes('hanging now') && chunk.includes('hanging now')) run.kill('SIGINT')
      output += chunk.toString()
    })
    await once(run, 'close')
    expect({ lastLine: output.split('\n').at(-2), exitCode: run.exitCode }).toEqual({
      lastLine: '1 passed, 0 failed',
      exitCode: 130,
    })
  })
})

function startRun(args: string[]): ChildProcessByStdio<null, Readable, null> {
  const runner = fileURLToPath(new URL('../run.ts', import.meta.url))
  const config = fileURLToPath(new URL('./fixtures/vitest.fixture.config.ts', import.meta.url))
  // The vitest we are in marks its environment; the one inside should not take itself for its worker.
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')))
  return spawn(process.execPath, [...process.execArgv, runner, '--config', config, ...args], {
    env: environment,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}
