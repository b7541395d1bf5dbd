import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test, vi } from 'vitest'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { copyEmbeddedTemplate } from '../support/services/embedded-template.js'
import { until } from '../support/until.js'
import { type Cli, type CliProcess, openCli } from './run-cli.js'

let built: BuiltPackage
let cli: Cli

// A first start makes a whole database; beside other tests on a small machine that can take most of a minute.
const START_MS = 90_000
vi.setConfig({ testTimeout: 3 * START_MS })

beforeAll(async () => {
  built = await buildPackage()
})
afterAll(() => built.remove())
beforeEach(() => {
  cli = openCli(built)
})
const closers: (() => void)[] = []
afterEach(async () => {
  await cli.close()
  for (const close of closers.splice(0)) close()
})

const untilReady = (started: CliProcess) =>
  until('it says that it is ready', () => started.stdout().includes('\nReady.'), { withinMs: START_MS })

test('start, on an empty directory and without any setting, says what it is and is ready within seconds', async () => {
  const started = cli.start([])
  await untilReady(started)
  const lines = started.stdout().split('\n')
  expect(lines[0]).toMatch(/^Postrider \d+\.\d+\.\d+/)
  expect(lines[1]).toMatch(
    /^ {2}database {2}embedded PostgreSQL [\d.]+ in \.\/\.postrider, (NOT )?safe against power loss/,
  )
  expect(lines[2]).toMatch(/^ {2}schema {4}applied 0000_actions/)
  expect(lines[3]).toBe('  worker    20 actions at once, leases of 60 s')
  expect(lines[4]).toBe('  backlog   0 due, 0 failed or uncertain')
  started.signal('SIGTERM')
  expect(await started.exited).toBe(0)
  // Logs are for standard error, one JSON object a line.
  const logged = started
    .stderr()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { msg: string })
  expect(logged.map(({ msg }) => msg)).toContain('stopping: no new work, finishing what is armed')
  expect(started.stdout()).not.toContain('"level"')
})

/** A directory that has been used before, as after the first start. */
const usedBefore = (): Record<string, string> => {
  const copy = copyEmbeddedTemplate(inject('embeddedTemplate'))
  closers.push(copy.remove)
  return { POSTRIDER_DATA: copy.directory }
}

test('while it runs, doctor and migrate go through its socket, and a second start is refused by name', async () => {
  const env = usedBefore()
  const started = cli.start(['start'], env)
  await untilReady(started)

  const doctor = await cli.run(['doctor', '--json'], env)
  expect(doctor).toMatchObject({ code: 0, stderr: '' })
  const findings = JSON.parse(doctor.stdout) as { subject: string; verdict: string; text: string }[]
  expect(findings.map(({ subject }) => subject)).toEqual(['database', 'clock', 'schema', 'backlog', 'attention'])
  expect(findings[0]!.text).toContain(`through process ${started.pid} which owns it`)
  expect(findings.filter(({ verdict }) => verdict === 'problem')).toEqual([])

  expect(await cli.run(['migrate'], env)).toEqual({ code: 0, stdout: 'Up to date.\n', stderr: '' })
  expect(await cli.run(['migrate', '--json'], env)).toMatchObject({ code: 0, stdout: '{"applied":[]}\n' })
  expect(await cli.run(['tick', '--json'], { ...env, LOG_LEVEL: 'warn' })).toMatchObject({ code: 0, stderr: '' })

  const second = await cli.run(['start'], env)
  expect(second).toMatchObject({ code: 4, stdout: '' })
  expect(second.stderr).toMatch(new RegExp(`^postrider: .* is in use by process ${started.pid}\\. .*\n$`))

  started.signal('SIGINT')
  expect(await started.exited).toBe(0)
  // And the directory is free again.
  expect(await cli.run(['doctor'], env)).toMatchObject({ code: 0 })
})

test('killed, it starts again on the same directory with nothing to do by hand', async () => {
  const env = usedBefore()
  const first = cli.start([], env)
  await untilReady(first)
  first.signal('SIGKILL')
  expect(await first.exited).toBe('SIGKILL')
  const second = cli.start([], env)
  await untilReady(second)
  expect(second.stdout()).toContain('  schema    up to date')
  second.signal('SIGTERM')
  expect(await second.exited).toBe(0)
})
