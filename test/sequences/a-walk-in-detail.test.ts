import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { findCampaign } from '../../src/db/campaigns.js'
import { enrollInCampaign } from '../../src/operations/launch-sequence.js'
import { recordEvent } from '../../src/operations/record-event.js'
import { cancelCampaign, pauseCampaign } from '../../src/operations/steer-campaign.js'
import { suppress } from '../../src/operations/suppress.js'
import { DATABASE_KINDS, NOW, openTestDatabase, type TestDatabase } from '../support/test-database.js'
import { checkBooks } from './check-books.js'
import { readFacts } from './read-facts.js'
import { checkRules } from './rules.js'
import { DAY, HOUR, type NodeSketch, openWorld, type World, WORKSPACE } from './world.js'

const MONDAY = Date.parse('2027-06-07T10:00:00Z')
const WIDE = { timezone: 'UTC', startHour: 0, endHour: 24, sendingDays: [1, 2, 3, 4, 5, 6, 7] }
const LINE: readonly NodeSketch[] = [
  { id: 'a', type: 'send', delayMs: 0, reply: false, next: 'b' },
  { id: 'b', type: 'send', delayMs: 2 * DAY, reply: true, next: null },
]
const WAITS: readonly NodeSketch[] = [
  { id: 'a', type: 'send', delayMs: 0, reply: false, next: 'w' },
  { id: 'w', type: 'wait_for', event: 'clicked', timeoutMs: DAY, onEvent: 'b', onTimeout: null },
  { id: 'b', type: 'send', delayMs: HOUR, reply: true, next: 'w2' },
  { id: 'w2', type: 'wait_for', event: 'clicked', timeoutMs: DAY, onEvent: 'c', onTimeout: null },
  { id: 'c', type: 'send', delayMs: HOUR, reply: true, next: null },
]

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  let database: TestDatabase
  let world: World
  beforeAll(async () => {
    database = await openTestDatabase(kind)
  })
  beforeEach(async () => {
    await database.clear()
    world = await openWorld({ ...database, now: NOW })
    await world.goTo(MONDAY)
  })
  afterEach(() => world.close())
  afterAll(() => database.close())

  const launch = async (nodes: readonly NodeSketch[], on: readonly string[]) => {
    await world.contacts(on)
    const sender = await world.sender(WIDE)
    const sequence = await world.sequence('sequence', nodes)
    const list = await world.list('list', on)
    const id = await world.campaign({ name: 'campaign', sequence, list, senders: [sender] })
    await world.launch(id)
    return id
  }
  const contactIds = async () =>
    (await database.db.query<{ id: string }>(`select id from postrider.contacts order by id`)).rows.map(({ id }) => id)

  describe('what does not go out gives its place back', () => {
    it('of a campaign that is canceled while its emails wait for the end of a pause', async () => {
      const id = await launch(LINE, ['ada@example.com', 'bob@example.com'])
      await pauseCampaign(world.mail.context, WORKSPACE, id)
      await world.liveUntil(MONDAY + HOUR)
      await cancelCampaign(world.mail.context, WORKSPACE, id)
      await world.tick()
      expect(await checkBooks(database.db)).toEqual([])
    })

    it('of an address that was suppressed', async () => {
      await launch(LINE, ['ada@example.com', 'bob@example.com'])
      await world.liveUntil(MONDAY + HOUR)
      await suppress(world.mail.context, WORKSPACE, ['ada@example.com'], {
        scope: 'all',
        reason: 'manual',
        detail: null,
      })
      await world.liveUntil(MONDAY + 3 * DAY)
      expect((await readFacts(world)).mails.map(({ to, node }) => `${to} ${node}`).toSorted()).toEqual([
        'ada@example.com a',
        'bob@example.com a',
        'bob@example.com b',
      ])
      expect(await checkBooks(database.db)).toEqual([])
    })
  })

  it('is the same whatever the clocks of the processes say that plan its steps', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * HOUR })
    try {
      await launch(WAITS, ['ada@example.com'])
    } finally {
      vi.useRealTimers()
    }
    await world.goTo(MONDAY + 60_000)
    for (let times = 0; times < 2; times++) {
      await world.liveUntil(world.now() + 2 * HOUR)
      const [contactId] = await contactIds()
      world.diary.events.push({ at: world.now(), to: 'ada@example.com', type: 'clicked', sequence: 'sequence' })
      await recordEvent(world.mail.context, WORKSPACE, { type: 'clicked', contactId: contactId! })
    }
    await world.liveUntil(world.now() + 5 * DAY)
    const facts = await readFacts(world)
    expect(facts.mails.toSorted((a, b) => a.at - b.at).map(({ node }) => node)).toEqual(['a', 'b', 'c'])
    expect(checkRules(facts, { isOver: true })).toEqual([])
  })

  it('sends nothing once it is stopped, also what could not be called off because somebody held its row', async () => {
    await launch(LINE, ['ada@example.com'])
    // As an event leaves it that passed over the email's row: the walk is over, the email still waits.
    await database.db.query(
      `update postrider.enrollments set state = 'stopped', reason_code = 'replied', reason = 'The contact replied.',
         finished_at = ${NOW}`,
    )
    await world.liveUntil(MONDAY + 4 * DAY)
    expect((await readFacts(world)).mails).toEqual([])
    const { rows } = await database.db.query<{ state: string; code: string }>(
      `select distinct state, reason_code as code from postrider.scheduled_actions where type = 'send'`,
    )
    expect(rows).toEqual([{ state: 'skipped', code: 'enrollment_stopped' }])
  })

  it('dates its emails when they go out, not when they were planned', async () => {
    await launch(LINE, ['ada@example.com'])
    await world.liveUntil(MONDAY + 3 * DAY)
    const facts = await readFacts(world)
    expect(facts.mails.map(({ node }) => node)).toEqual(['a', 'b'])
    const [first, second] = facts.mails
    const apart = second!.at - first!.at
    // A second each, because that is what a header can say.
    expect(Math.abs(second!.date - first!.date - apart)).toBeLessThan(2_000)
  })

  it('leaves a campaign that was over as it was when nobody new is enrolled', async () => {
    const id = await launch(LINE, ['ada@example.com'])
    await world.liveUntil(MONDAY + 4 * DAY)
    const status = async () => (await findCampaign(database.db, WORKSPACE, id))!.status
    expect(await status()).toBe('sent')
    await enrollInCampaign(world.mail.context, WORKSPACE, id, { contactIds: await contactIds() })
    await world.tick()
    expect(await status()).toBe('sent')
  })
})
