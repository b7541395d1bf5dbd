import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { upsertContacts } from '../../src/db/contacts.js'
import { joinList } from '../../src/db/lists.js'
import { insertSequence } from '../../src/db/sequences.js'
import { createPostrider, DEFAULT_WORKSPACE, newId, type Postrider } from '../../src/index.js'
import { showId } from '../../src/id.js'
import { createCampaign } from '../../src/operations/campaigns.js'
import { createList } from '../../src/operations/lists.js'
import { createSender } from '../../src/operations/senders.js'
import { createTemplate } from '../../src/operations/templates.js'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { silent } from '../support/kernel.js'
import { fileDatabase } from '../support/services/file-database.js'
import { type Cli, openHostedCli } from './run-cli.js'

/** Processes, each a second on a busy machine. */
vi.setConfig({ testTimeout: 120_000 })

let built: BuiltPackage
let cli: Cli
let postrider: Postrider
let env: Record<string, string>
let campaign: string

beforeAll(async () => {
  built = await buildPackage()
  cli = openHostedCli(built)
  const [databaseUrl, secret] = [await fileDatabase(), 'the same for every process']
  postrider = await createPostrider({ databaseUrl, secret, log: silent })
  env = { DATABASE_URL: databaseUrl, POSTRIDER_SECRET: secret, LOG_LEVEL: 'silent' }
  const { context } = postrider
  const list = await createList(context, DEFAULT_WORKSPACE, { name: 'People' })
  const people = Array.from({ length: 12 }, (_, i) => `p${i}@example.com`)
  const contacts = await upsertContacts(
    context.db,
    DEFAULT_WORKSPACE,
    people.map((address) => ({ address, foldedAddress: address, name: null, attributes: {}, timezone: null })),
  )
  await joinList(
    context.db,
    list.id,
    contacts.map(({ id }) => id),
  )
  const { id: templateId } = await createTemplate(context, DEFAULT_WORKSPACE, { name: 'T', subject: 'Hi', text: 'Hi' })
  const sequenceId = newId()
  const send = { type: 'send', templateId, subject: null, reply: false } as const
  await insertSequence(context.db, DEFAULT_WORKSPACE, sequenceId, 'Two emails', {
    start: 'one',
    nodes: [
      { ...send, id: 'one', delayMs: 0, next: 'two' },
      { ...send, id: 'two', delayMs: 86_400_000, next: null },
    ],
  })
  const pace = { timezone: 'Asia/Kolkata', dailyQuota: 5 }
  const { id: senderId } = await createSender(context, DEFAULT_WORKSPACE, { address: 'me@sender.test', pace })
  const made = await createCampaign(context, DEFAULT_WORKSPACE, {
    name: 'Ahead',
    listId: list.id,
    sequenceId,
    senderId,
  })
  campaign = showId('cmp', made.id)
})
afterAll(async () => {
  await cli.close()
  await postrider.stop()
  built.remove()
})

const run = (...args: string[]) => cli.run(['simulate', ...args], env)

test('a table of days with bars, the next emails, and times in the timezone of the sender', async () => {
  const { code, stdout, stderr } = await run(campaign, '--limit', '3')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^cmp_\w+ Ahead: draft\n24 emails in 14 days\. Nothing was sent\.\n\nDAY +EMAILS +STEPS\n/)
  expect(stdout).toMatch(/^\d{4}-\d\d-\d\d [A-Z][a-z]{2} +5 +#{24} +1: 5$/m)
  expect(stdout).toMatch(/^AT +STEP +TO +FROM\n\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +1 +p\d+@example\.com +me@sender\.test$/m)
  expect(stdout).toContain('… and 21 more on these days.')
  expect(stdout).toMatch(/- The campaign is a draft: as if it were launched now\.\n/)
  expect(stdout.endsWith('Times are in Asia/Kolkata.\n')).toBe(true)
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
})

test('the same as the API as JSON', async () => {
  const { code, stdout } = await run(campaign, '--days', '2', '--timezone', 'UTC', '--json')
  expect(code).toBe(0)
  const answer = JSON.parse(stdout)
  expect(answer).toMatchObject({ object: 'simulation', campaign_id: campaign, timezone: 'UTC', truncated: false })
  expect(answer.days).toHaveLength(2)
  expect(answer.total + answer.beyond).toBe(24)
})

test('what is asked wrongly is a mistake of usage, what is not there is not found', async () => {
  expect(await run(campaign, '--days', '0')).toMatchObject({ code: 2, stdout: '' })
  expect((await run(campaign, '--timezone', 'Mars')).stderr).toContain('must be the name of a timezone')
  expect(await run('cmp_nobody')).toMatchObject({ code: 3, stdout: '' })
})
