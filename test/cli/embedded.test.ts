import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test, vi } from 'vitest'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { copyEmbeddedTemplate } from '../support/services/embedded-template.js'
import { until } from '../support/until.js'
import { askStatus } from './ask-status.js'
import { keyOf, runPrintedCurl, urlOf } from './printed-curl.js'
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

const ANY_PORT = { PORT: '0' }

test('start, on an empty directory, says what it is, and the line it prints sends a first email into the inbox', async () => {
  await cli.close()
  cli = openCli(built, { asShipped: true })
  const started = cli.start([], ANY_PORT)
  await untilReady(started)
  const lines = started.stdout().split('\n')
  expect(lines[0]).toMatch(/^Postrider \d+\.\d+\.\d+/)
  expect(lines[1]).toMatch(
    /^ {2}database {3}embedded PostgreSQL [\d.]+ in \.\/\.postrider, (NOT )?safe against power loss/,
  )
  expect(lines[2]).toMatch(/^ {2}schema {5}applied 0000_actions/)
  expect(lines[3]).toMatch(/^ {2}mail {7}kept in the dev inbox/)
  expect(lines[4]).toBe('  worker     20 emails at once, leases of 60 s')
  expect(lines[5]).toBe('  backlog    0 due, 0 failed or uncertain')
  expect(lines[6]).toBe(`  dashboard  ${urlOf(started.stdout())}/admin`)
  expect(lines[7]).toMatch(/^ {2}log in {5}choose a password at http:\S+\/admin\/setup#[\w-]{43} /)
  expect(lines[9]).toBe(`  docs       ${urlOf(started.stdout())}/api/docs`)
  expect(await askStatus(`${urlOf(started.stdout())}/api/docs`)).toBe(200)

  const sent = await runPrintedCurl(started.stdout(), '/api/emails')
  expect(sent.status).toBeGreaterThanOrEqual(200)
  expect(sent.status).toBeLessThan(300)
  const { id } = sent.body as { id: string }
  await until('the email is in the inbox', async () => {
    const { body } = await runPrintedCurl(started.stdout(), '/api/inbox')
    return (body as { data: { email_id: string; subject: string }[] }).data.some(
      (captured) => captured.email_id === id && captured.subject === 'Hello',
    )
  })

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
  return { ...ANY_PORT, POSTRIDER_DATA: copy.directory }
}

test('while it runs, doctor and migrate go through its socket, and a second start is refused by name', async () => {
  const env = usedBefore()
  const started = cli.start(['start'], env)
  await untilReady(started)

  const doctor = await cli.run(['doctor', '--json'], env)
  expect(doctor).toMatchObject({ code: 0, stderr: '' })
  const findings = JSON.parse(doctor.stdout) as { subject: string; verdict: string; text: string }[]
  expect(findings.map(({ subject }) => subject).join(' ')).toBe(
    'database clock schema backlog attention provider broker secret dns',
  )
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

test('while it runs, emails are sent, followed and keys made and revoked through its socket', async () => {
  const env = usedBefore()
  const started = cli.start([], env)
  await untilReady(started)
  const url = urlOf(started.stdout())
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli.run([...args, '--json'], env)
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
    return JSON.parse(stdout) as Record<string, unknown> & { id: string }
  }

  const { id } = await run('send', '--to', 'ada@example.com', '--subject', 'Attached', '--text', 'Hello')
  await until('the running process has sent it', async () => (await run('emails', 'show', id))['status'] === 'sent')
  const { data } = (await run('emails', 'list', '--status', 'sent', '--to', 'ADA@example.com')) as unknown as {
    data: { id: string }[]
  }
  expect(data.map((email) => email.id)).toEqual([id])
  const traced = await cli.run(['trace', id], env)
  expect(traced.stdout).toMatch(/accepted for 1 recipient\n.*attempt 1 to ada@example\.com: accepted\n/)

  const made = await run('keys', 'create', '--name', 'shop', '--scope', 'read')
  const ask = (path: string) =>
    askStatus(`${url}${path}`, { headers: { Authorization: `Bearer ${String(made['key'])}` } })
  expect(await ask('/api/emails')).toBe(200)
  await run('keys', 'revoke', made.id)
  await until('the running process has heard of it', async () => (await ask('/api/emails')) === 401)

  started.signal('SIGTERM')
  expect(await started.exited).toBe(0)
})

test('killed, it starts again on the same directory with nothing to do by hand, and with the same key', async () => {
  const env = usedBefore()
  const first = cli.start([], env)
  await untilReady(first)
  const key = keyOf(first.stdout())
  const file = join(env['POSTRIDER_DATA']!, 'api-key')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  first.signal('SIGKILL')
  expect(await first.exited).toBe('SIGKILL')
  const second = cli.start([], env)
  await untilReady(second)
  expect(second.stdout()).toContain('  schema     up to date')
  expect(keyOf(second.stdout())).toBe(key)
  expect((await runPrintedCurl(second.stdout(), '/api/emails')).status).toBeLessThan(300)
  second.signal('SIGTERM')
  expect(await second.exited).toBe(0)

  // A key that is none any more is replaced: what is printed works.
  writeFileSync(file, 'pr_not-a-key\n')
  const third = cli.start([], env)
  await untilReady(third)
  expect(keyOf(third.stdout())).not.toBe(key)
  expect((await runPrintedCurl(third.stdout(), '/api/inbox')).status).toBe(200)
  third.signal('SIGTERM')
  expect(await third.exited).toBe(0)
})

test('a key from the settings is used in the printed line, and never printed', async () => {
  const env = { ...usedBefore(), POSTRIDER_API_KEY: 'a-key-that-somebody-has-chosen' }
  const started = cli.start([], env)
  await untilReady(started)
  expect(started.stdout() + started.stderr()).not.toContain(env.POSTRIDER_API_KEY)
  const { POSTRIDER_API_KEY } = env
  expect((await runPrintedCurl(started.stdout(), '/api/emails', { POSTRIDER_API_KEY })).status).toBeLessThan(300)
  expect((await runPrintedCurl(started.stdout(), '/api/emails')).status).toBe(401)
  started.signal('SIGTERM')
  expect(await started.exited).toBe(0)
})

test('a directory that cannot be used is said so, with what to do', async () => {
  writeFileSync(join(cli.directory, 'file'), '')
  for (const data of ['file', 'file/below']) {
    const { code, stderr } = await cli.run(['start'], { ...ANY_PORT, POSTRIDER_DATA: data })
    expect(stderr).toMatch(/POSTRIDER_DATA is file.*cannot be used: .* must be a directory that belongs to the user/)
    expect(code).toBe(2)
  }
})

test('in a container, a stop while it starts is heard, and one when it is ready ends it in order', async () => {
  const listening = `--import=${join(built.directory, 'dist/cli/first-process.js')}`
  const env = { ...usedBefore(), NODE_OPTIONS: listening }
  const saying = `${listening} --import=data:text/javascript,console.error('listens')`
  const early = cli.start(['start'], { ...env, NODE_OPTIONS: saying })
  await until('it listens', () => early.stderr().includes('listens'))
  early.signal('SIGTERM')
  // Its own exit code: a process that does not listen would have been ended by the signal, and number 1 by nothing.
  expect(await early.exited).toBe(143)
  const started = cli.start(['start'], env)
  await untilReady(started)
  started.signal('SIGTERM')
  expect(await started.exited).toBe(0)
})
