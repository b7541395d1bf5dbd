import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { connect } from '../../src/db/client.js'
import { migrate } from '../../src/db/migrate.js'
import { DEFAULT_WORKSPACE } from '../../src/id.js'
import { runCampaignBatch } from '../../src/operations/run-campaign-batch.js'
import { silent } from '../support/kernel.js'
import { announcedRandom } from '../support/seeded-random.js'
import { copyEmbeddedTemplate, type EmbeddedTemplate } from '../support/services/embedded-template.js'
import { fileDatabase } from '../support/services/file-database.js'
import { startPrivatePostgres } from '../support/services/private-postgres.js'
import { prepareStorms, type Storms } from './announced-storm.js'
import { launch } from './campaign-desk.js'
import { type CampaignStormOptions, runCampaignStorm } from './campaign-storm.js'
import type { Storm } from './storm.js'

let storms: Storms
const copies: EmbeddedTemplate[] = []
beforeAll(async () => {
  storms = await prepareStorms()
})
afterEach(() => {
  for (const copy of copies.splice(0)) copy.remove()
})
afterAll(() => storms.remove())

async function storm(what: string, options: Omit<CampaignStormOptions, 'seed' | 'built'>): Promise<Storm> {
  const { seed } = announcedRandom(`a campaign ${what}`)
  const began = performance.now()
  const seen = await runCampaignStorm({ built: storms.built, seed, ...options })
  const seconds = Math.round((performance.now() - began) / 1_000)
  process.stdout.write(`a campaign ${what}: ${JSON.stringify({ seed, seconds, ...seen.counts })}\n`)
  return seen
}

const onTheServer = async () => ({ databaseUrl: await fileDatabase(), dataDirectory: storms.directory })
const embedded = () => {
  const copy = copyEmbeddedTemplate(inject('embeddedTemplate'))
  copies.push(copy)
  return { databaseUrl: null, dataDirectory: copy.directory }
}

describe('a campaign whose processes are killed while it is planned and sent', () => {
  test('reaches everybody once and counts as the mail server does, on PostgreSQL', { timeout: 600_000 }, async () => {
    // Two of them are of both workers at once, in the middle of planning.
    const load = { people: 1_500, batchSize: 50, kills: 6 }
    const { broken, counts, ends } = await storm('on PostgreSQL', { ...(await onTheServer()), ...load })
    expect(broken).toEqual([])
    expect(ends).toEqual([0, 0, 0])
    // Otherwise the kills would have proved nothing.
    expect(counts['kills']).toBe(8)
    expect(counts['whilePlanning']).toBeGreaterThanOrEqual(4)
  })

  test('reaches everybody once and counts as the mail server does, embedded', { timeout: 600_000 }, async () => {
    const { broken, counts, ends } = await storm('embedded', { ...embedded(), people: 300, batchSize: 50, kills: 4 })
    expect(broken).toEqual([])
    expect(ends).toEqual([0, 0])
    expect(counts['kills']).toBeGreaterThanOrEqual(4)
  })

  test('mails nobody twice and counts everybody who leaves meanwhile', { timeout: 600_000 }, async () => {
    const load = { people: 600, batchSize: 50, kills: 4, leavers: 0.3 }
    const { broken, counts, ends } = await storm('people leave', { ...(await onTheServer()), ...load })
    expect(broken).toEqual([])
    expect(ends).toEqual([0, 0, 0])
    // Some of each kind left in time; otherwise their counts would have proved nothing.
    for (const kind of ['removed', 'unsubscribed', 'suppressed']) expect(counts[kind]).toBeGreaterThan(0)
  })
})

test('a campaign whose database is restarted reaches everybody once', { timeout: 600_000 }, async () => {
  const postgres = await startPrivatePostgres()
  try {
    const db = connect({ connection: { connectionString: postgres.url }, maxConnections: 1 })
    await migrate(db).finally(() => db.close())
    const load = { people: 400, batchSize: 50, kills: 0 }
    const restarts = { times: 2, restart: () => postgres.restart('immediate') }
    const place = { databaseUrl: postgres.url, dataDirectory: storms.directory }
    const { broken, ends } = await storm('through restarts', { ...place, ...load, restarts })
    expect(broken).toEqual([])
    expect(ends).toEqual([0, 0, 0])
  } finally {
    await postgres.dispose()
  }
})

test('a turn whose database crashes before the disk has it is lost whole, and taken again', async () => {
  // Only a commit that waits for the disk writes to it: the turn does not, and nobody else commits.
  const postgres = await startPrivatePostgres({ wal_writer_delay: '10s' })
  const db = connect({ connection: { connectionString: postgres.url }, maxConnections: 1 })
  try {
    await migrate(db)
    const place = { databaseUrl: postgres.url, dataDirectory: storms.directory }
    const audience = { domain: 'crash.test', people: 30, batchSize: 10, leaving: () => null }
    const { laneId } = await launch(place, audience)
    const takeTurn = () =>
      db.transaction((tx) =>
        runCampaignBatch(
          tx,
          { workspaceId: DEFAULT_WORKSPACE, laneId },
          { log: silent, batchesAhead: 6, random: Math.random },
        ),
      )
    const read = async () => {
      const { rows } = await db.query<{ planned: number; cursor: string | null; emails: number; people: number }>(
        `select planned, last_cursor as cursor, count(action.id)::int as emails,
           count(distinct contact_id)::int as people
         from postrider.campaigns left join postrider.scheduled_actions action on lane_id = campaigns.id and type = 'send'
         where campaigns.id = $1 group by campaigns.id`,
        [laneId],
      )
      return rows[0]!
    }
    await takeTurn()
    expect(await read()).toMatchObject({ planned: 10, emails: 10, people: 10 })
    await postgres.restart('immediate')
    expect(await read()).toEqual({ planned: 0, cursor: null, emails: 0, people: 0 })
    await takeTurn()
    await takeTurn()
    expect(await read()).toMatchObject({ planned: 30, emails: 30, people: 30 })
  } finally {
    await db.close()
    await postgres.dispose()
  }
})
