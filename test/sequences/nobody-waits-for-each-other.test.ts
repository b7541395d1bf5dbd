import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from 'vitest'
import { lockCampaign } from '../../src/db/campaigns.js'
import type { Sql } from '../../src/db/client.js'
import { lockEnrollment } from '../../src/db/enrollments.js'
import { lockSender } from '../../src/db/lock-sender.js'
import { recordEvent } from '../../src/operations/record-event.js'
import { walkEnrollment } from '../../src/operations/walk-enrollment.js'
import { NOW, openTestDatabase, type TestDatabase } from '../support/test-database.js'
import { until } from '../support/until.js'
import { DAY, HOUR, type NodeSketch, openWorld, type World, WORKSPACE } from './world.js'

/**
 * What two transactions hold and what they want next, brought about on purpose. Only where there are several sessions:
 * on the embedded database one transaction comes after the other.
 */
const MONDAY = Date.parse('2027-06-07T10:00:00Z')
const LINE: readonly NodeSketch[] = [
  { id: 'a', type: 'send', delayMs: 0, reply: false, next: 'b' },
  { id: 'b', type: 'send', delayMs: 5 * DAY, reply: true, next: null },
]
const WAITS: readonly NodeSketch[] = [
  { id: 'a', type: 'send', delayMs: 0, reply: false, next: 'w' },
  { id: 'w', type: 'wait_for', event: 'clicked', timeoutMs: DAY, onEvent: null, onTimeout: 'b' },
  { id: 'b', type: 'send', delayMs: HOUR, reply: true, next: null },
]

describe('on PostgreSQL', () => {
  let database: TestDatabase
  let world: World
  beforeAll(async () => {
    database = await openTestDatabase('PostgreSQL')
  })
  beforeEach(async () => {
    await database.clear()
    world = await openWorld({ ...database, now: NOW })
    await world.goTo(MONDAY)
  })
  afterEach(() => world.close())
  afterAll(() => database.close())

  /** Ada walks two sequences, for the same sender: one has an email booked, the other waits for a click. */
  const begin = async () => {
    await world.contacts(['ada@example.com'])
    const sender = await world.sender({
      timezone: 'UTC',
      startHour: 0,
      endHour: 24,
      sendingDays: [1, 2, 3, 4, 5, 6, 7],
    })
    const walks = []
    for (const [i, nodes] of [LINE, WAITS].entries()) {
      const sequence = await world.sequence(`sequence ${i}`, nodes)
      const list = await world.list(`list ${i}`, ['ada@example.com'])
      const campaignId = await world.campaign({ name: `campaign ${i}`, sequence, list, senders: [sender] })
      await world.launch(campaignId)
      const { rows } = await database.db.query<{ id: string; contactId: string }>(
        `select id, contact_id as "contactId" from postrider.enrollments where campaign_id = $1`,
        [campaignId],
      )
      walks.push({ ...rows[0]!, campaignId })
    }
    await world.liveUntil(MONDAY + 2 * HOUR)
    return { sender, line: walks[0]!, waits: walks[1]! }
  }
  const isWaiting = async () => {
    const { rows } = await database.db.query<{ waiting: boolean }>(
      `select exists (select from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock') as waiting`,
    )
    return rows[0]!.waiting
  }
  /** While `first` holds what it took, `second` begins and comes to where it waits; then `first` goes on. */
  const cross = async (
    take: (tx: Sql) => Promise<unknown>,
    second: () => Promise<unknown>,
    goOn: (tx: Sql) => Promise<unknown>,
  ) => {
    let other: Promise<unknown> | undefined
    await database.db.transaction(async (tx) => {
      await take(tx)
      other = second()
      other.catch(() => undefined)
      await until('the other one waits', isWaiting)
      await goOn(tx)
    })
    await other
  }

  it('an event that ends two walks, and the timeout of the second', async () => {
    const { waits } = await begin()
    const options = { log: world.mail.context.log, random: () => 0.5 }
    await cross(
      (tx) => lockEnrollment(tx, WORKSPACE, waits.id),
      () => recordEvent(world.mail.context, WORKSPACE, { type: 'bounced', contactId: waits.contactId }),
      async (tx) => {
        const locked = await lockEnrollment(tx, WORKSPACE, waits.id)
        expect(await walkEnrollment(tx, locked!, { kind: 'timed_out' }, options)).toBe(true)
      },
    )
  })

  it('an event that ends two walks, and a page of people for the campaign of the second', async () => {
    const { waits, sender } = await begin()
    await cross(
      (tx) => lockCampaign(tx, WORKSPACE, waits.campaignId),
      () => recordEvent(world.mail.context, WORKSPACE, { type: 'bounced', contactId: waits.contactId }),
      (tx) => lockSender(tx, sender),
    )
  })
})
