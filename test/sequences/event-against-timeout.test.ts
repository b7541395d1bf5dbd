import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordEvent } from '../../src/operations/record-event.js'
import { cancelCampaign } from '../../src/operations/steer-campaign.js'
import { stopEnrollment } from '../../src/operations/enrollments.js'
import { seededRandom } from '../support/seeded-random.js'
import { sized } from '../support/sized.js'
import { DATABASE_KINDS, NOW, openTestDatabase, type TestDatabase } from '../support/test-database.js'
import { checkBooks } from './check-books.js'
import { ifOpen } from './incidents.js'
import { readFacts } from './read-facts.js'
import { checkRules } from './rules.js'
import { checkStory, type Deed, happen, live, race, steer, type Story, type StoryModel, WALK } from './walk-story.js'
import { DAY, HOUR, MINUTE, openWorld, type World, WORKSPACE } from './world.js'

const MONDAY = Date.parse('2027-06-07T10:00:00Z')
const WIDE = { timezone: 'UTC', startHour: 0, endHour: 24, sendingDays: [1, 2, 3, 4, 5, 6, 7] }
const STORIES = sized({ PostgreSQL: 6, 'the embedded database': 2 }, { PostgreSQL: 24, 'the embedded database': 8 })
const DEEDS: readonly Deed[] = ['clicked', 'opened', 'replied', 'unsubscribed', 'bounced', 'stop', 'pause', 'resume']

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await openTestDatabase(kind)
  })
  afterAll(() => database.close())

  const inWorld = async (run: (world: World) => Promise<void>, seed = 1) => {
    await database.clear()
    const random = seededRandom(seed)
    const workers = kind === 'PostgreSQL' ? 2 : 1
    const world = await openWorld({ ...database, now: NOW }, { workers, random: () => random.next() })
    try {
      await world.goTo(MONDAY)
      await run(world)
    } finally {
      await world.close()
    }
  }
  const readWalks = async (campaignId: string) =>
    (
      await database.db.query<Story['walks'][number]>(
        `select enrollments.id, contact_id as "contactId", folded_address as "to" from postrider.enrollments
           join postrider.contacts on contacts.id = contact_id where campaign_id = $1 order by folded_address`,
        [campaignId],
      )
    ).rows
  const people = (count: number) => Array.from({ length: count }, (_, i) => `p${i}@example.com`)
  const enroll = async (world: World, name: string, on: readonly string[], senders: readonly string[]) => {
    const sequence = await world.sequence(`sequence ${name}`, WALK)
    const list = await world.list(`list ${name}`, on)
    const id = await world.campaign({ name: `campaign ${name}`, sequence, list, senders })
    await world.launch(id)
    return id
  }

  const deeds = fc.constantFrom(...DEEDS)
  const places = fc.nat({ max: 2 })
  const steps = [
    fc.integer({ min: 1, max: 30 }).map(live),
    fc.integer({ min: 20, max: 60 }).map(live),
    fc.tuple(deeds, places).map(([deed, place]) => happen(deed, place)),
    fc.tuple(deeds, places).map(([deed, place]) => race(deed, place)),
    fc.tuple(fc.constantFrom<Deed>('clicked', 'opened'), places).map(([deed, place]) => race(deed, place)),
    fc.constantFrom('pause', 'resume', 'resume', 'cancel').map((what) => steer(what as 'pause')),
  ]
  const story = fc.asyncProperty(fc.commands(steps, { maxCommands: 12, size: 'max' }), fc.nat(), (commands, seed) =>
    inWorld(async (world) => {
      const on = people(3)
      await world.contacts(on)
      const sender = await world.sender({ ...WIDE, dailyQuota: 5, gapMinSeconds: 1, gapMaxSeconds: 3 })
      const campaignId = await enroll(world, 'story', on, [sender])
      const walks = await readWalks(campaignId)
      const model: StoryModel = {
        walks: new Map(walks.map(({ id }) => [id, { over: false, paused: false }])),
        canceled: false,
        campaignPaused: false,
      }
      const real: Story = { world, campaignId, walks }
      await checkStory(model, real)
      await fc.asyncModelRun(() => ({ model, real }), commands)
    }, seed),
  )

  it(
    'whatever happens in whatever order, one of two that raced wins, and what is pending and booked agrees',
    () => fc.assert(story, { numRuns: STORIES[kind], endOnFailure: true }),
    240_000,
  )

  it(
    'many at once: whoever was moved was moved once, and nobody waits for each other',
    () =>
      inWorld(async (world) => {
        const on = people(sized(12, 24))
        await world.contacts(on)
        // One sender for both: whoever ends two walks at once holds it while others want it.
        const sender = await world.sender({ ...WIDE, gapMinSeconds: 1, gapMaxSeconds: 2 })
        const ids = [await enroll(world, 'one', on, [sender]), await enroll(world, 'two', on, [sender])]
        const early = await readDeadlocks(world)
        await world.liveUntil(MONDAY + 20 * HOUR)
        const walks = [...(await readWalks(ids[0]!)), ...(await readWalks(ids[1]!))]
        // Everybody waits for a click, and all timeouts have come when the clock is there.
        await world.goTo(MONDAY + DAY + 30 * MINUTE)
        const { context } = world.mail
        const { diary } = world
        const about = walks.slice(0, on.length)
        const isGone = (place: number) => place % 3 === 0
        for (const [i, { to }] of about.entries())
          diary.events.push({ at: world.now(), to, type: isGone(i) ? 'bounced' : 'clicked', sequence: null })
        const events = about.map(({ contactId }, i) =>
          recordEvent(context, WORKSPACE, { type: isGone(i) ? 'bounced' : 'clicked', contactId }),
        )
        const halted = walks.map((walk, i) => ({ ...walk, sequence: i < on.length ? 'sequence one' : 'sequence two' }))
        const stops = halted.filter((_, i) => i % 7 === 1)
        await Promise.all([
          world.tick(),
          ...events,
          ...stops.map(({ id }) => ifOpen(() => stopEnrollment(context, WORKSPACE, id, 'a test'))),
        ])
        for (const { to, sequence } of stops) diary.stops.push({ at: world.now(), why: 'it was stopped', to, sequence })
        for (const { to } of about.filter((_, i) => isGone(i)))
          diary.stops.push({ at: world.now(), why: 'it bounced', to })
        await world.tick()
        const model: StoryModel = {
          walks: new Map(walks.map(({ id }) => [id, { over: false, paused: false }])),
          canceled: false,
          campaignPaused: false,
        }
        await checkStory(model, { world, campaignId: ids[0]!, walks })
        await world.liveUntil(world.now() + HOUR)
        for (const { to } of about) diary.events.push({ at: world.now(), to, type: 'opened', sequence: null })
        await Promise.all([
          world.tick(),
          cancelCampaign(context, WORKSPACE, ids[0]!),
          ...about.map(({ contactId }) => recordEvent(context, WORKSPACE, { type: 'opened', contactId })),
        ])
        diary.stops.push({ at: world.now(), why: 'it was canceled', campaign: 'campaign one' })
        await world.liveUntil(world.now() + 5 * DAY)
        expect(await checkBooks(database.db)).toEqual([])
        expect(await readDeadlocks(world)).toBe(early)
        expect(checkRules(await readFacts(world), { isOver: false })).toEqual([])
      }),
    120_000,
  )
})

/** Whom the server has had to end because two waited for each other. */
async function readDeadlocks({ ground }: World): Promise<number> {
  if (ground.db.embedded) return 0
  const { rows } = await ground.db.query<{ deadlocks: number }>(
    `select deadlocks::int from pg_stat_database where datname = current_database()`,
  )
  return rows[0]!.deadlocks
}
