import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { showId } from '../../src/id.js'
import { enrollInCampaign } from '../../src/operations/launch-sequence.js'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { announcedRandom, type SeededRandom } from '../support/seeded-random.js'
import { sized } from '../support/sized.js'
import { DATABASE_KINDS, NOW, openTestDatabase, type TestDatabase } from '../support/test-database.js'
import { checkBooks } from './check-books.js'
import { type LaunchProcess, startLauncher } from './launch-process.js'
import { readFacts } from './read-facts.js'
import { checkRules } from './rules.js'
import { DAY, type NodeSketch, openWorld, type World, WORKSPACE } from './world.js'

const ROUNDS = sized({ PostgreSQL: 15, 'the embedded database': 5 }, { PostgreSQL: 50, 'the embedded database': 10 })
const STEPS: readonly NodeSketch[] = [
  { id: 'a', type: 'send', delayMs: 0, reply: false, next: 'b' },
  { id: 'b', type: 'send', delayMs: DAY, reply: true, next: null },
]
/** A Monday, within everybody's hours. */
const MONDAY = Date.parse('2027-06-07T10:00:00Z')
const WIDE = { timezone: 'UTC', startHour: 0, endHour: 24, sendingDays: [1, 2, 3, 4, 5, 6, 7] }
/** All of a step at one instant: these tests are about who gets it, and not about when. */
const NO_GAP = { ...WIDE, gapMinSeconds: 0, gapMaxSeconds: 0 }

let built: BuiltPackage
beforeAll(async () => {
  built = await buildPackage()
})
afterAll(() => built.remove())

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  let database: TestDatabase
  let world: World
  let random: SeededRandom
  let launchers: LaunchProcess[] = []
  beforeAll(async () => {
    database = await openTestDatabase(kind)
    random = announcedRandom(`launches at once on ${kind}`)
  })
  beforeEach(async () => {
    await database.clear()
    world = await openWorld({ ...database, now: NOW }, { random: () => random.next() })
    await world.goTo(MONDAY)
  })
  afterEach(async () => {
    await Promise.all(launchers.map((launcher) => launcher.kill()))
    launchers = []
    await world.close()
  })
  afterAll(() => database.close())

  const launcher = async (dieAtDraw?: number) => {
    const seed = Math.floor(random.next() * 2 ** 31)
    const settings = { location: database.location, now: NOW, seed, ...(dieAtDraw !== undefined && { dieAtDraw }) }
    const made = startLauncher(built, settings)
    launchers.push(made)
    await made.ready
    return made
  }
  const people = (count: number, prefix = 'p') => Array.from({ length: count }, (_, i) => `${prefix}${i}@example.com`)
  const pathOf = (id: string, what: string) => `/api/campaigns/${showId('cmp', id)}/${what}`
  const launched = (id: string) => {
    const place = world.diary.campaigns.findIndex((campaign) => campaign.id === id)
    world.diary.campaigns[place] = { ...world.diary.campaigns[place]!, launchedAt: world.now() }
  }
  const tally = async (campaignId: string) => {
    const { rows } = await database.db.query<{ walks: number; contacts: number; emails: number; planned: number }>(
      `select planned, (select count(*)::int from postrider.enrollments where campaign_id = campaigns.id) as walks,
         (select count(distinct contact_id)::int from postrider.enrollments where campaign_id = campaigns.id) as contacts,
         (select count(*)::int from postrider.scheduled_actions where lane_id = campaigns.id and type = 'send') as emails
       from postrider.campaigns where id = $1`,
      [campaignId],
    )
    return rows[0]!
  }
  /** Lives until all is sent, and asks the rules. */
  const judge = async () => {
    await world.liveUntil(world.now() + 20 * DAY)
    return [...checkRules(await readFacts(world), { isOver: true }), ...(await checkBooks(database.db))]
  }

  it(`of two processes that launch a campaign at the same moment one does, ${ROUNDS[kind]} times`, async () => {
    const both = [await launcher(), await launcher()] as const
    const sender = await world.sender(NO_GAP)
    for (let round = 0; round < ROUNDS[kind]; round++) {
      const on = people(1 + (round % 3), `r${round}-`)
      await world.contacts(on)
      const sequence = await world.sequence(`sequence ${round}`, STEPS)
      const list = await world.list(`list ${round}`, on)
      const id = await world.campaign({ name: `campaign ${round}`, sequence, list, senders: [sender] })
      launched(id)
      const answers = await Promise.all(both.map((process) => process.post(pathOf(id, 'launch'))))
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
      expect(answers.find(({ status }) => status === 200)!.body).toMatchObject({
        scheduled: 2 * on.length,
        skipped: 0,
        errors: [],
      })
      expect(await tally(id)).toEqual({
        walks: on.length,
        contacts: on.length,
        planned: on.length,
        emails: 2 * on.length,
      })
    }
    expect(await judge()).toEqual([])
  }, 240_000)

  it('a launch that dies half-way goes on by itself: nobody twice, nobody left out', async () => {
    const on = people(130)
    await world.contacts(on)
    const sender = await world.sender(NO_GAP)
    for (const [round, page] of [0, 1].entries()) {
      const sequence = await world.sequence(`sequence ${round}`, STEPS)
      const list = await world.list(`list ${round}`, on)
      const id = await world.campaign({ name: `campaign ${round}`, sequence, list, senders: [sender] })
      launched(id)
      const doomed = await launcher(page * 200 + 1 + Math.floor(random.next() * 59))
      await expect(doomed.post(pathOf(id, 'launch'))).rejects.toThrow('SIGKILL')
      expect((await tally(id)).walks).toBe(page * 100)
      const other = await launcher()
      expect((await other.post(pathOf(id, 'launch'))).status).toBe(409)
      await world.tick()
      expect(await tally(id)).toEqual({ walks: 130, contacts: 130, planned: 130, emails: 260 })
    }
    expect(await judge()).toEqual([])
  }, 240_000)

  it('two campaigns of one sequence, launched at once at lists that overlap, enroll everybody in one of them', async () => {
    const both = [await launcher(), await launcher()] as const
    const senders = [await world.sender(NO_GAP), await world.sender(NO_GAP)] as const
    for (let round = 0; round < sized(4, 6); round++) {
      const on = people(12, `r${round}-`)
      await world.contacts(on)
      const sequence = await world.sequence(`sequence ${round}`, STEPS)
      const ids: string[] = []
      for (const [i, [from, to]] of [[0, 8] as const, [4, 12] as const].entries()) {
        const list = await world.list(`list ${round} ${i}`, on.slice(from, to))
        const chosen = round % 2 === 0 ? [senders[0]] : round % 3 === 0 ? [senders[i]!] : senders
        ids.push(await world.campaign({ name: `campaign ${round} ${i}`, sequence, list, senders: chosen }))
      }
      for (const id of ids) launched(id)
      const answers = await Promise.all(both.map((process, i) => process.post(pathOf(ids[i]!, 'launch'))))
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      const [one, other] = [await tally(ids[0]!), await tally(ids[1]!)]
      expect(one.walks + other.walks).toBe(12)
      expect(answers.reduce((sum, { body }) => sum + Number(body['scheduled']), 0)).toBe(24)
      expect(answers.reduce((sum, { body }) => sum + Number(body['skipped']), 0)).toBe(4)
    }
    expect(await judge()).toEqual([])
  }, 240_000)

  it('whoever is enrolled beside a launch is enrolled once', async () => {
    const other = await launcher()
    const sender = await world.sender(NO_GAP)
    for (let round = 0; round < sized(2, 3); round++) {
      const on = people(30, `r${round}-`)
      await world.contacts(on)
      const sequence = await world.sequence(`sequence ${round}`, STEPS)
      const list = await world.list(`list ${round}`, on)
      const first = await world.list(`first ${round}`, [])
      const id = await world.campaign({ name: `campaign ${round}`, sequence, list: first, senders: [sender] })
      expect((await world.launch(id)).scheduled).toBe(0)
      const { rows } = await database.db.query<{ id: string }>(
        `select id from postrider.contacts where folded_address = any ($1) order by folded_address`,
        [on],
      )
      const contactIds = rows.map((row) => row.id)
      const { context } = world.mail
      const answers = await Promise.all([
        enrollInCampaign(context, WORKSPACE, id, { listId: list }),
        enrollInCampaign(context, WORKSPACE, id, { contactIds: contactIds.slice(0, 20) }),
        other.post(pathOf(id, 'enroll'), { contact_ids: contactIds.slice(10).map((one) => showId('ctc', one)) }),
      ])
      expect(answers[2].status).toBe(200)
      const place = world.diary.campaigns.findIndex((campaign) => campaign.id === id)
      world.diary.campaigns[place] = { ...world.diary.campaigns[place]!, contacts: on }
      await world.tick()
      expect(await tally(id)).toMatchObject({ walks: 30, contacts: 30, emails: 60 })
    }
    expect(await judge()).toEqual([])
  }, 240_000)

  it('several senders take turns by what is left of their quota, and everybody keeps the one they got', async () => {
    const on = people(24)
    await world.contacts(on)
    const senders = [
      await world.sender({ ...NO_GAP, dailyQuota: 14 }),
      await world.sender({ ...NO_GAP, dailyQuota: 7 }),
      await world.sender({ ...NO_GAP, dailyQuota: 3 }),
    ]
    const sequence = await world.sequence('sequence', STEPS)
    const list = await world.list('list', on)
    const id = await world.campaign({ name: 'campaign', sequence, list, senders })
    await world.launch(id)
    const { rows } = await database.db.query<{ count: number; senderId: string }>(
      `select sender_id as "senderId", count(*)::int as count from postrider.enrollments group by sender_id`,
    )
    const shares = senders.map((sender) => rows.find(({ senderId }) => senderId === sender)?.count ?? 0)
    expect(shares[0]! + shares[1]! + shares[2]!).toBe(24)
    // Together they can begin with all of them today, and so nobody waits until tomorrow.
    expect(shares).toEqual([14, 7, 3])
    expect(await judge()).toEqual([])
  }, 60_000)
})
