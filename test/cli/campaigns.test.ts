import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createPostrider, DEFAULT_WORKSPACE, type Postrider } from '../../src/index.js'
import { upsertContacts } from '../../src/db/contacts.js'
import { joinList } from '../../src/db/lists.js'
import { createList } from '../../src/operations/lists.js'
import { createTemplate } from '../../src/operations/templates.js'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { silent } from '../support/kernel.js'
import { type ScriptedSmtp, startScriptedSmtp } from '../support/scripted-smtp.js'
import { fileDatabase } from '../support/services/file-database.js'
import { type Cli, openHostedCli } from './run-cli.js'

/** A story of processes, each a second on a busy machine. */
vi.setConfig({ testTimeout: 120_000 })

let built: BuiltPackage
let cli: Cli
let mailServer: ScriptedSmtp
let worker: Postrider
let env: Record<string, string>

beforeAll(async () => {
  built = await buildPackage()
  cli = openHostedCli(built)
  mailServer = await startScriptedSmtp()
  const [databaseUrl, secret] = [await fileDatabase(), 'the same for every process']
  const smtpUrl = `smtp://127.0.0.1:${mailServer.port}`
  // Works in this process: what is tested here are the commands.
  worker = await createPostrider({ databaseUrl, secret, smtpUrl, log: silent })
  env = { DATABASE_URL: databaseUrl, POSTRIDER_SECRET: secret, SMTP_URL: smtpUrl, LOG_LEVEL: 'silent' }
  const { context } = worker
  const list = await createList(context, DEFAULT_WORKSPACE, { name: 'People' })
  const people = ['ada', 'bob'].map((name) => ({ address: `${name}@example.com`, name }))
  const contacts = await upsertContacts(
    context.db,
    DEFAULT_WORKSPACE,
    people.map(({ address, name }) => ({ address, foldedAddress: address, name, attributes: {}, timezone: null })),
  )
  await joinList(
    context.db,
    list.id,
    contacts.map(({ id }) => id),
  )
  await createTemplate(context, DEFAULT_WORKSPACE, { name: 'News', subject: 'Hi {{ contact.name }}', text: 'Hello' })
})
afterAll(async () => {
  await cli.close()
  await worker.stop()
  await mailServer.close()
  built.remove()
})

const run = (...args: string[]) => cli.run(['campaigns', ...args], env)
async function read(...args: string[]): Promise<Record<string, unknown> & { id: string }> {
  const { code, stdout, stderr } = await run(...args, '--json')
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
  return JSON.parse(stdout) as Record<string, unknown> & { id: string }
}
const create = (...more: string[]) => read('create', 'November', '--list', 'People', '--template', 'News', ...more)

test('a campaign is meant by its name while no other has it, and by its id otherwise', async () => {
  const make = () => read('create', 'Namesake', '--list', 'People', '--template', 'News')
  const first = await make()
  expect(await read('show', 'Namesake')).toMatchObject({ id: first.id })
  const second = await make()
  const asked = await run('show', 'Namesake')
  expect(asked).toMatchObject({ code: 2, stdout: '' })
  expect(asked.stderr).toContain(`${second.id} (draft), ${first.id} (draft)`)
})

test('a campaign is made, checked, launched, shown, and what failed is sent again', async () => {
  const { id } = await create('--hourly-limit', '1000', '--batch-size', '50')
  const checked = await run('preflight', id)
  expect(checked.code).toBe(0)
  expect(checked.stdout).toMatch(/^ok +audience .*\n(?:.*\n)*It can be launched\.\n$/)

  const asked = await run('launch', id)
  expect(asked).toMatchObject({ code: 2, stdout: '' })
  expect(asked.stderr).toContain('Launch "November" to 2 people? Nobody can be asked here: add --yes')
  expect(await read('launch', id, '--dry-run')).toMatchObject({ ok: true, dry_run: true })
  expect(await read('show', id)).toMatchObject({ status: 'draft', progress: { standstill: { code: 'draft' } } })

  expect(await read('launch', id, '--yes')).toMatchObject({ status: 'running', scheduled: 2, skipped: 0 })
  mailServer.script = (point, line) =>
    point === 'rcpt' && line.includes('bob@') ? { do: 'reply', text: '554 5.6.0 not \u001b[31mthat' } : undefined
  await worker.tick(20_000)
  mailServer.script = () => undefined

  // Off a terminal nothing moves: one look, and no sequences that steer.
  const shown = await run('show', id, '--watch')
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(shown.stdout).toMatch(/status +sent\n(?:.*\n)* +audience +2\n +sent +1\n +failed +1\n +last error +.*not/)
  expect(shown.stdout).not.toContain('\u001b')
  for (const line of shown.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)

  expect((await run('retry', id)).code).toBe(2)
  expect(await read('retry', id, '--dry-run')).toMatchObject({ matched: 1, retried: 0 })
  expect(await read('retry', id, '--yes')).toMatchObject({ status: 'running', retried: 1 })
  await worker.tick(20_000)
  expect(await read('emails', id, '--status', 'sent', '--limit', '1')).toMatchObject({
    has_more: true,
    data: [{ campaign_id: id, status: 'sent', subject: expect.stringMatching(/^Hi (ada|bob)$/) }],
  })
  expect(mailServer.taken).toHaveLength(2)
  const again = await run('launch', id, '--yes')
  expect(again).toMatchObject({ code: 4, stdout: '' })
  expect(again.stderr).toMatch(/^postrider: Campaign cmp_\w+ is sent; only a draft can be launched\.\n$/)
})

test('a campaign is scheduled, paused, resumed, tried out and canceled', async () => {
  const { id } = await create()
  expect(await read('schedule', id, '2999-01-01T09:00:00Z', '--yes')).toMatchObject({ status: 'scheduled' })
  expect((await run('pause', id)).stdout).toBe(`${id} November: paused\n`)
  expect(await read('resume', id)).toMatchObject({ status: 'scheduled' })
  expect(await read('test', id, '--to', 'me@example.org')).toMatchObject({ id: expect.stringMatching(/^em_/) })
  expect((await run('cancel', id)).stderr).toContain('2 people would not get it any more.')
  expect((await run('cancel', id, '--dry-run')).stdout).toBe('2 people would not get it any more.\n')
  expect(await read('cancel', id, '--yes')).toMatchObject({ status: 'canceled' })
  const listed = await run('list', '--status', 'canceled')
  expect(listed.stdout).toMatch(
    new RegExp(`^ID +STATUS +MADE +NAME\n${id} +canceled +\\d{4}-\\d\\d-\\d\\d +November\n$`),
  )
})

test('what is wrong ends in the exit code for it', async () => {
  const parts = ['--list', 'People', '--template', 'News']
  const cases: [code: number, said: RegExp, ...args: string[]][] = [
    [3, /There is no campaign "cmp_1"\. "postrider campaigns list" shows them/, 'show', 'cmp_1'],
    [3, /There is no template "New"\. Did you mean "News"\?/, 'create', 'x', '--list', 'People', '--template', 'New'],
    [
      2,
      /The campaign cannot be kept:\n {2}--reply-to: must be one address/,
      'create',
      'x',
      ...parts,
      '--reply-to',
      'me',
    ],
    [2, /--schedule is "soon"; it must be a date, a time and an offset/, 'create', 'x', ...parts, '--schedule', 'soon'],
    [2, /did you mean "running"/, 'list', '--status', 'runing'],
  ]
  for (const [code, said, ...args] of cases) {
    const result = await run(...args)
    expect({ args, code: result.code, stdout: result.stdout }).toEqual({ args, code, stdout: '' })
    expect(result.stderr).toMatch(said)
  }
  const { id } = await create('--expires', '2001-01-01T00:00:00Z')
  const refused = await run('launch', id, '--yes')
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain('It expires before it starts')
  expect((await run('preflight', id)).code).toBe(1)
})
