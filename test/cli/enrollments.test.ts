import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { upsertContacts } from '../../src/db/contacts.js'
import { joinList } from '../../src/db/lists.js'
import { insertSequence } from '../../src/db/sequences.js'
import { createPostrider, DEFAULT_WORKSPACE, newId, type Postrider } from '../../src/index.js'
import { createList } from '../../src/operations/lists.js'
import { createSender } from '../../src/operations/senders.js'
import { createTemplate } from '../../src/operations/templates.js'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { silent } from '../support/kernel.js'
import { fileDatabase } from '../support/services/file-database.js'
import { type Cli, openHostedCli } from './run-cli.js'

/** A story of processes, each a second on a busy machine. */
vi.setConfig({ testTimeout: 180_000 })

const DAY = 86_400_000

let built: BuiltPackage
let cli: Cli
let worker: Postrider
let env: Record<string, string>

beforeAll(async () => {
  built = await buildPackage()
  cli = openHostedCli(built)
  const [databaseUrl, secret] = [await fileDatabase(), 'the same for every process']
  worker = await createPostrider({ databaseUrl, secret, log: silent })
  env = { DATABASE_URL: databaseUrl, POSTRIDER_SECRET: secret, LOG_LEVEL: 'silent' }
  const { context } = worker
  const list = await createList(context, DEFAULT_WORKSPACE, { name: 'People' })
  const contacts = await upsertContacts(
    context.db,
    DEFAULT_WORKSPACE,
    ['ada', 'bob', 'cyd'].map((name) => ({
      address: `${name}@example.com`,
      foldedAddress: `${name}@example.com`,
      name,
      attributes: {},
      timezone: null,
    })),
  )
  const people = contacts.filter(({ foldedAddress }) => !foldedAddress.startsWith('cyd'))
  await joinList(
    context.db,
    list.id,
    people.map(({ id }) => id),
  )
  const text = { text: 'Hello' }
  const template = await createTemplate(context, DEFAULT_WORKSPACE, { name: 'Hi', subject: 'Hi', ...text })
  const send = { type: 'send', templateId: template.id, subject: null } as const
  await insertSequence(context.db, DEFAULT_WORKSPACE, newId(), 'Autumn', {
    start: 'intro',
    nodes: [
      { ...send, id: 'intro', delayMs: 0, reply: false, next: 'follow-up' },
      { ...send, id: 'follow-up', delayMs: 2 * DAY, reply: true, next: null },
    ],
  })
})
afterAll(async () => {
  await cli.close()
  await worker.stop()
  built.remove()
})

type Shown = Record<string, unknown> & { id: string; data: Shown[] }

const run = (...args: string[]) => cli.run(args, env)
async function read(...args: string[]): Promise<Shown> {
  const { code, stdout, stderr } = await run(...args, '--json')
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
  return JSON.parse(stdout) as Shown
}

test('a sequence is launched, looked at, and its walks are paused, resumed and stopped', async () => {
  const draft = await read('campaigns', 'create', 'Outreach', '--list', 'People', '--sequence', 'Autumn')
  expect(draft).toMatchObject({ sequence_id: expect.stringMatching(/^seq_/), template_id: null })
  expect(draft['sender_ids']).toEqual([draft['sender_id']])
  const { id } = draft
  const launched = await run('campaigns', 'launch', id, '--yes')
  expect(launched).toMatchObject({ code: 0, stderr: '' })
  expect(launched.stdout).toBe(
    `${id} Outreach: running\n4 emails planned; 0 people skipped (opted out, suppressed, or enrolled before).\n`,
  )
  const again = await run('campaigns', 'schedule', id)
  expect(again.code).toBe(2)
  expect(again.stderr).toContain('Enroll who joined the list of "Outreach", of 2 people?')
  expect(await read('campaigns', 'schedule', id, '--dry-run')).toMatchObject({ dry_run: true, matched: 2 })
  expect(await read('campaigns', 'schedule', id, '--yes')).toMatchObject({ scheduled: 0, skipped: 2, remaining: 0 })

  const enrolled = await read('campaigns', 'enroll', id, '--contact', 'cyd@example.com', 'ada@example.com')
  expect(enrolled).toMatchObject({ object: 'enrolled', enrolled: 1, scheduled: 2, enrolled_before: 1 })
  expect((await run('campaigns', 'enroll', id, '--list', 'People')).code).toBe(2)
  const nobody = await run('campaigns', 'enroll', id, '--list', 'People', '--yes')
  expect(nobody).toMatchObject({ code: 0, stderr: '' })
  expect(nobody.stdout).toContain('2 people skipped: 0 unsubscribed, 0 suppressed, 2 enrolled before.')

  const calendar = await read('campaigns', 'calendar', id, '--limit', '4')
  expect(calendar).toMatchObject({ has_more: true, data: [1, 1, 1, 2].map((number) => ({ step: { number } })) })
  const table = await run('campaigns', 'calendar', id, '--after', calendar.data[3]!.id)
  expect(table.stdout).toMatch(/^TIME \(UTC\) +STEP +TO +SUBJECT\n(?:[\d: -]+ 2 +\w+@example\.com +Hi\n){2}$/)
  const shown = await run('campaigns', 'show', id)
  expect(shown.stdout).toMatch(/ people +\d+\n +active +3\n(?:.*\n)* +emails +6\n +scheduled +6\n/)

  const walks = await read('enrollments', 'list', '--campaign', id, '--contact', 'ada@example.com')
  expect(walks.data).toMatchObject([{ object: 'enrollment', state: 'active', email: 'ada@example.com' }])
  const walk = walks.data[0]!.id
  expect((await run('enrollments', 'pause', walk)).stdout).toBe(`${walk}: paused\n`)
  expect((await read('enrollments', 'list', '--state', 'paused')).data).toMatchObject([{ id: walk }])
  expect(await read('enrollments', 'resume', walk)).toMatchObject({ id: walk, state: 'active' })
  expect(await read('enrollments', 'show', walk)).toMatchObject({
    emails: [{ step: { node: 'intro', number: 1 } }, { step: { node: 'follow-up', number: 2 } }],
  })
  expect(await read('enrollments', 'stop', walk)).toMatchObject({ state: 'stopped', reason_code: 'stopped' })
  const stopped = await run('enrollments', 'show', walk)
  expect(stopped.stdout).toMatch(
    /state +stopped\n(?:.*\n)+ {2}step 2 {2}em_\w+ {2}canceled .*\n.*Stopped by the command line\.\n$/,
  )
  const listed = await run('enrollments', 'list', '--limit', '1')
  // As wide as a terminal that nobody asked: 80 columns.
  expect(listed.stdout).toMatch(
    /^ID +CONTACT +STATE +NEXT \(UTC\)\nenr_\w+ +cyd@exam\S+ +active +\d{4}-\d\d-\d\d .*\n$/,
  )
  expect(listed.stderr).toMatch(/^There are more: --after enr_\w+\n$/)
})

test('what is wrong ends in the exit code for it', async () => {
  await createSender(worker.context, DEFAULT_WORKSPACE, { address: 'second@sender.test', provider: 'capture' })
  const create = ['campaigns', 'create', 'x', '--list', 'People']
  const { id } = await read(...create, '--sequence', 'Autumn', '--sender', 'second@sender.test')
  const cases: [code: number, said: RegExp, ...args: string[]][] = [
    [2, /Give either --template or --sequence\./, ...create],
    [3, /There is no sequence "Autum"\. Did you mean "Autumn"\?/, ...create, '--sequence', 'Autum'],
    [2, /Give either --contact or --list\./, 'campaigns', 'enroll', id],
    [4, /is a draft: launch it first/, 'campaigns', 'enroll', id, '--contact', 'ada@example.com'],
    [3, /There is no contact "eve@example\.com"/, 'campaigns', 'enroll', id, '--contact', 'eve@example.com'],
    [3, /There is no enrollment "enr_1"\. "postrider enrollments list" shows them/, 'enrollments', 'show', 'enr_1'],
    [2, /did you mean "active"/, 'enrollments', 'list', '--state', 'activ'],
  ]
  for (const [code, said, ...args] of cases) {
    const result = await run(...args)
    expect({ args, code: result.code, stdout: result.stdout }).toEqual({ args, code, stdout: '' })
    expect(result.stderr).toMatch(said)
  }
})
