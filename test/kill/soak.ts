/**
 * `npm run soak -- [--minutes 10] [--emails 100000] [--seed N]`: the storm of the kill suite, again and again on a private
 * PostgreSQL, until the time is up or so many emails were judged. Everything stays on this machine.
 *
 * `npm run soak -- --campaign 20000`: one campaign to so many people instead, some of whom leave meanwhile.
 *
 * `npm run soak -- --year [--contacts 10000] [--seed N]`: a year of sequences instead, on a clock that skips what is empty.
 *
 * `npm run soak -- --tests`: the tests of which `npm test` runs the least that proves something, at their full size.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { connect } from '../../src/db/client.js'
import { migrate } from '../../src/db/migrate.js'
import { buildPackage } from '../support/build-package.js'
import { plainError } from '../support/services/plain-error.js'
import { startPrivatePostgres } from '../support/services/private-postgres.js'
import { soakYear } from '../sequences/soak-year.js'
import { runCampaignStorm } from './campaign-storm.js'
import { runStorm, type Storm } from './storm.js'

/** Emails per storm, and per kill in it. */
const ROUND = 5_000
const EMAILS_PER_KILL = 50
/** Of a campaign: people per kill, and the part of them that leaves. */
const PEOPLE_PER_KILL = 400
const LEAVERS = 0.05

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    emails: { type: 'string' },
    campaign: { type: 'string' },
    year: { type: 'boolean' },
    contacts: { type: 'string' },
    seed: { type: 'string' },
    tests: { type: 'boolean' },
  },
})
if (values.tests) process.exit(runTests())

const minutes = readNumber('minutes', values.minutes, 10)
const emails = readNumber('emails', values.emails, 100_000)
const people = values.campaign === undefined ? 0 : readNumber('campaign', values.campaign, 0)
const contacts = readNumber('contacts', values.contacts, 10_000)
const firstSeed = readNumber('seed', values.seed, Math.floor(Math.random() * 2 ** 31))

const say = (line: string) => process.stdout.write(`${line}\n`)
const began = performance.now()
const elapsed = () => `${((performance.now() - began) / 60_000).toFixed(1)} min`

const built = await buildPackage()
const dataDirectory = mkdtempSync(join(tmpdir(), 'postrider-soak-'))
// A year kills processes and never its database, so that need not wait for the disk at every commit.
const postgres = await startPrivatePostgres(values.year ? { fsync: 'off' } : {})
const open = () => Promise.resolve(connect({ connection: { connectionString: postgres.url }, maxConnections: 2 }))
const total: Record<string, number> = {}
const broken: string[] = []
try {
  const db = await open()
  await migrate(db)
  await db.close()
  let [seed, asked] = [firstSeed, 0]
  if (values.year) {
    say(`soak: a year of sequences with ${contacts} contacts, seed ${seed}`)
    const report = (line: string) => say(`${elapsed()}  ${line}`)
    tally(seed, 'year', { ...(await soakYear({ databaseUrl: postgres.url, seed, contacts, report })), ends: [] })
  } else if (people > 0) {
    say(`soak: a campaign to ${people} people`)
    tally(seed, 'campaign', await campaignStorm(people, seed))
  } else say(`soak: ${emails} emails or ${minutes} min, whichever comes first`)
  while (
    !values.year &&
    people === 0 &&
    asked < emails &&
    performance.now() - began < minutes * 60_000 &&
    broken.length === 0
  ) {
    const onUncertain = seed % 4 === 3 ? 'resend' : 'hold'
    const round = Math.min(ROUND, emails - asked)
    asked += round
    const storm = await runStorm({
      built,
      databaseUrl: postgres.url,
      dataDirectory,
      open,
      emails: round,
      kills: Math.max(1, Math.round(round / EMAILS_PER_KILL)),
      onUncertain,
      seed,
      report: (line) => say(`${elapsed()}  ${line}`),
    })
    tally(seed, onUncertain, storm)
    seed++
  }
} finally {
  await postgres.dispose()
  built.remove()
  rmSync(dataDirectory, { recursive: true })
}
for (const sentence of broken) say(sentence)
say(`verdict: ${broken.length === 0 ? 'every promise was kept' : `${broken.length} BROKEN`}`)
say(
  values.year
    ? `${total['mails']} emails, ${total['kills']} kills, ${elapsed()}`
    : `${total['emails']} emails, ${total['kills']} kills, ${total['uncertain']} uncertain, ${elapsed()}`,
)
process.exitCode = broken.length === 0 ? 0 : 1

/** Every test file that has a size. Their exit code. */
function runTests(): number {
  const tests = fileURLToPath(new URL('../', import.meta.url))
  const isSized = (name: string) =>
    name.endsWith('.test.ts') && readFileSync(join(tests, name), 'utf8').includes('support/sized.js')
  const sized = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter(isSized)
  const command = ['--import', 'tsx', join(tests, 'run.ts'), ...sized.map((name) => join('test', name))]
  const env = { ...process.env, TEST_SIZE: 'full' }
  return spawnSync(process.execPath, command, { stdio: 'inherit', env }).status ?? 1
}

function campaignStorm(to: number, seed: number): Promise<Storm> {
  return runCampaignStorm({
    built,
    databaseUrl: postgres.url,
    dataDirectory,
    people: to,
    batchSize: 50,
    kills: Math.max(1, Math.round(to / PEOPLE_PER_KILL)),
    leavers: LEAVERS,
    seed,
    report: (line) => say(`${elapsed()}  ${line}`),
  })
}

function tally(seed: number, what: string, storm: Storm): void {
  for (const [name, count] of Object.entries(storm.counts))
    total[name] = name.startsWith('most') ? Math.max(total[name] ?? 0, count) : (total[name] ?? 0) + count
  broken.push(...storm.broken.map((sentence) => `seed ${seed}: ${sentence}`))
  if (storm.ends.some((end) => end !== 0)) broken.push(`seed ${seed}: processes ended with ${storm.ends.join(', ')}`)
  say(`${elapsed()}  seed ${seed}, ${what}: ${JSON.stringify(storm.counts)}`)
}

function readNumber(name: string, text: string | undefined, fallback: number): number {
  const number = text === undefined ? fallback : Number(text)
  if (!(number > 0)) throw plainError(`--${name} is a number above 0, not ${text}.`)
  return number
}
