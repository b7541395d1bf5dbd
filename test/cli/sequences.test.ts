import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { fileDatabase } from '../support/services/file-database.js'
import { type Cli, openHostedCli } from './run-cli.js'

/** A story of processes, each a second on a busy machine. */
vi.setConfig({ testTimeout: 120_000 })

let built: BuiltPackage
let cli: Cli
let env: Record<string, string>
let template: string

beforeAll(async () => {
  built = await buildPackage()
  cli = openHostedCli(built)
  env = { DATABASE_URL: await fileDatabase(), POSTRIDER_SECRET: 'the same for every process', LOG_LEVEL: 'silent' }
  expect((await cli.run(['migrate'], env)).code).toBe(0)
  const made = await cli.run(
    ['templates', 'create', 'Hello', '--subject', 'Hi', '--text', file('hello.txt', 'Hello')],
    env,
  )
  template = made.stdout.trim()
})
afterAll(async () => {
  await cli.close()
  built.remove()
})

const run = (...args: string[]) => cli.run(['sequences', ...args], env)
async function read(...args: string[]): Promise<Record<string, unknown> & { id: string }> {
  const { code, stdout, stderr } = await run(...args, '--json')
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
  return JSON.parse(stdout) as Record<string, unknown> & { id: string }
}
function file(name: string, content: unknown): string {
  const path = join(cli.directory, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

test('a sequence is checked, made from a file, shown, changed and deleted', async () => {
  const nodes = [
    { id: 'hello', type: 'send', template, next: 'opened' },
    { id: 'opened', type: 'wait_for', event: 'opened', timeout: { days: 3 }, on_event: 'plan', on_timeout: 'again' },
    { id: 'again', type: 'send', template, next: 'plan' },
    // oxlint-disable-next-line unicorn/no-thenable -- the id of a node, which nothing can call
    { id: 'plan', type: 'branch', if: { attribute: 'plan', is: 'exists' }, then: 'bye' },
    { id: 'bye', type: 'stop' },
  ]
  const path = file('onboarding.json', { name: 'Onboarding', nodes })
  expect(await run('validate', '--file', path)).toEqual({ code: 0, stdout: 'It is valid.\n', stderr: '' })
  expect((await read('list'))['data']).toEqual([])

  const made = await read('create', '--file', path)
  expect(made).toMatchObject({ object: 'sequence', name: 'Onboarding', version: 1, steps_count: 2, start: 'hello' })
  expect(await read('show', made.id)).toEqual(made)
  const shown = await run('show', 'Onboarding')
  expect(shown.code).toBe(0)
  expect(shown.stdout).toMatch(
    /^NODE +TYPE +WHAT +THEN\nhello +send .*\nopened +wait_for +opened, for 3d +event: plan.*\n(?:.*\n){2}bye +stop\n$/,
  )
  for (const line of shown.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  expect(shown.stderr).toBe(`${made.id} Onboarding, version 1. It starts at hello.\n`)

  const same = await run('update', 'Onboarding', '--file', path)
  expect(same).toMatchObject({ code: 0, stdout: `${made.id} Onboarding, version 1\n` })
  expect(same.stderr).toContain('no new version')
  const steps = file('steps.json', { steps: [{ template }, { template, delay_days: 2 }] })
  expect(await read('update', made.id, '--file', steps, '--name', 'Short')).toMatchObject({
    name: 'Short',
    version: 2,
    nodes: [{ id: 'step-1' }, { id: 'step-2', delay: { days: 2 }, reply: true }],
    versions: [{ version: 2 }, { version: 1 }],
  })
  expect((await run('list')).stdout).toMatch(/^ID +VERSION +EMAILS +NAME\nseq_\w+ +2 +2 +Short\n$/)
  expect(await run('delete', 'Short')).toEqual({ code: 0, stdout: `Deleted ${made.id} (Short).\n`, stderr: '' })
  expect((await read('list'))['data']).toEqual([])
})

test('a file may come from standard input, and its name from the command', async () => {
  const input = JSON.stringify({ name: 'In the file', steps: [{ template }] })
  const piped = await cli.run(['sequences', 'create', 'Piped', '--file', '-'], env, input)
  expect(piped).toEqual({ code: 0, stdout: expect.stringMatching(/^seq_[0-9a-f]{32}\n$/), stderr: '' })
  expect(await read('update', 'Piped', '--name', 'Renamed')).toMatchObject({ name: 'Renamed', version: 1 })
  expect(await read('delete', 'Renamed')).toEqual({ object: 'sequence', id: piped.stdout.trim(), deleted: true })
})

test('everything that is wrong with a file is said at once, by its place', async () => {
  const path = file('wrong.json', {
    colour: 'red',
    steps: [
      { template: 'Hello', delayDays: 1 },
      { template, delay_days: -1, subject: '\u001b[31mred' },
    ],
  })
  const lines = [
    '  /colour is not a known field',
    '  /steps/0/delayDays is not a known field here (did you mean delay_days?)',
    '  /steps/1/delay_days must be a whole number of days, 0 or more',
    '  /steps/1/subject must be 1 to 998 characters, none of them control characters',
    '  /steps/0/template must be the id of a template of this workspace',
    '',
  ].join('\n')
  expect(await run('validate', '--file', path)).toEqual({ code: 1, stdout: lines, stderr: '' })
  const asJson = await run('validate', '--file', path, '--json')
  expect(asJson.code).toBe(1)
  expect(JSON.parse(asJson.stdout)).toMatchObject({ valid: false, problems: [{ pointer: '/colour' }, {}, {}, {}, {}] })
  expect(await run('create', 'Wrong', '--file', path)).toEqual({
    code: 2,
    stdout: '',
    stderr: `postrider: The sequence is not valid:\n${lines}`,
  })
})

test('what is wrong ends in the exit code for it', async () => {
  const good = file('good.json', { name: 'Good', steps: [{ template }] })
  await read('create', '--file', good)
  const nameless = file('nameless.json', { steps: [{ template }] })
  const cases: [code: number, said: RegExp, ...args: string[]][] = [
    [4, /Another sequence of this workspace has this name/, 'create', '--file', good],
    [3, /There is no sequence "Goo"\. Did you mean "Good"\?/, 'show', 'Goo'],
    [3, /There is no sequence "seq_1"/, 'delete', 'seq_1'],
    [2, /The sequence is not valid:\n {2}\/name is needed/, 'create', '--file', nameless],
    [2, /Nothing to change: give --file, --name, or both/, 'update', 'Good'],
    [2, /--file none\.json cannot be read \(ENOENT\)/, 'validate', '--file', 'none.json'],
    [2, /is not JSON/, 'validate', '--file', file('broken.json', '{"steps":')],
    [2, /must hold a JSON object with steps or nodes/, 'validate', '--file', file('list.json', '[]')],
    [2, /required option '--file <file>'/, 'create', 'x'],
    [2, /Did you mean validate\?/, 'validat', '--file', good],
  ]
  for (const [code, said, ...args] of cases) {
    const result = await run(...args)
    expect({ args, code: result.code, stdout: result.stdout }).toEqual({ args, code, stdout: '' })
    expect(result.stderr).toMatch(said)
  }
})
