import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readNow } from '../../src/db/sender-days.js'
import type { Sender } from '../../src/db/senders.js'
import { settleActions } from '../../src/db/settle-actions.js'
import type { Outcome } from '../../src/domain/action.js'
import { localDayOf } from '../../src/domain/pace.js'
import { newId } from '../../src/id.js'
import { takeTurn } from '../../src/operations/take-turn.js'
import { DATABASE_KINDS, openTestDatabase, type TestDatabase } from '../support/test-database.js'
import { gapsBetween, type LeasedEmail, openPaceWorld } from './pace-world.js'
import { settledUnder } from '../support/held-under.js'

const AT = '2026-10-23T10:00:00.000Z' // a Friday, noon in Paris
const TODAY = '2026-10-23'
/** Statements take their time, on a busy machine seconds. */
const A_MOMENT_MS = 20_000

describe.each(DATABASE_KINDS)('the turn of an email on %s', (kind) => {
  let database: TestDatabase
  let world: ReturnType<typeof openPaceWorld>
  beforeAll(async () => {
    database = await openTestDatabase(kind)
    world = openPaceWorld(database)
  })
  afterAll(() => database.close())
  beforeEach(() => world.goTo(AT))

  const turn = (of: Sender, email: LeasedEmail, random = Math.random) => takeTurn(database.db, of, { ...email, random })
  const laterThan = async (of: Sender, email: LeasedEmail) => {
    const check = await turn(of, email)
    if (check.kind !== 'later') throw new Error(`it was ${check.kind}`)
    return check
  }

  it('is taken in its window, on its day, by whoever holds the email', async () => {
    const paris = await world.sender({ dailyQuota: 1 })
    const email = await world.leased(paris, TODAY, AT)
    expect(await turn(paris, { ...email, leaseToken: newId() })).toEqual({ kind: 'lost' })
    expect(await world.turnOf(paris)).toBeNull()
    expect(await turn(paris, email)).toEqual({ kind: 'ok', day: TODAY })
    expect((await world.turnOf(paris))!.getTime()).toBeGreaterThanOrEqual(Date.parse(AT))
    expect(await world.bookingOf(email)).toEqual({ day: TODAY, at: new Date(AT) })
  })

  it('is taken by one of two at once, and a gap later by the other', async () => {
    const paris = await world.sender({ gapMinSeconds: 600, gapMaxSeconds: 900 })
    const emails = [await world.leased(paris, TODAY, AT), await world.leased(paris, TODAY, AT)]
    const checks = await Promise.all(emails.map((email) => turn(paris, email)))
    expect(checks.map(({ kind }) => kind).toSorted()).toEqual(['later', 'ok'])
    const rest = emails[checks.findIndex(({ kind }) => kind === 'later')]!
    expect((await turn(paris, rest)).kind).toBe('later')
    await world.goTo(new Date((await world.turnOf(paris))!.getTime() + 600_001).toISOString())
    expect(await turn(paris, rest)).toEqual({ kind: 'ok', day: TODAY })
  })

  it('comes for fifty that are overdue one after the other, not at once', { timeout: 120_000 }, async () => {
    const paris = await world.sender({ gapMinSeconds: 30, gapMaxSeconds: 90 })
    const emails: LeasedEmail[] = []
    // The night's: some of yesterday, some of this morning, each a minute after the other.
    for (let i = 0; i < 50; i++)
      emails.push(
        i < 20
          ? await world.leased(paris, '2026-10-22', `2026-10-22T14:${String(30 + i)}:00.000Z`)
          : await world.leased(paris, TODAY, `2026-10-23T07:${String(i)}:00.000Z`),
      )
    const checks = await Promise.all(emails.map((email) => turn(paris, email)))
    expect(checks.filter(({ kind }) => kind === 'ok')).toHaveLength(1)
    const begun = (await world.turnOf(paris))!.getTime()
    const untils = checks.flatMap((check) => (check.kind === 'later' ? check.until.getTime() : []))
    expect(untils).toHaveLength(49)
    for (const gap of gapsBetween([begun, ...untils])) expect(gap).toBeGreaterThanOrEqual(30_000)
    // None of them is put off for longer than it takes: 49 gaps of 90 seconds at most.
    expect(Math.max(...untils)).toBeLessThan(begun + 49 * 90_000 + A_MOMENT_MS)
    const days = await world.daysOf(paris)
    expect([...days.keys()]).toEqual([TODAY])
    expect(days.get(TODAY)!.booked).toBe(50)
    const bookings = await Promise.all(emails.map((email) => world.bookingOf(email)))
    expect(days.get(TODAY)!.slots).toEqual(bookings.map(({ at }) => at!.getTime() / 1_000).toSorted((a, b) => a - b))
  })

  it('is waited for in its place by one that came in time, when the one before it took long', async () => {
    const paris = await world.sender({ gapMinSeconds: 600, gapMaxSeconds: 600 })
    const email = await world.leased(paris, TODAY, AT)
    // As close as they may be, before and after it.
    await world.leased(paris, TODAY, '2026-10-23T10:10:00.000Z')
    await world.setTurn(paris, '2026-10-23T09:58:00.000Z')
    const { until } = await laterThan(paris, email)
    expect(until).toEqual(new Date('2026-10-23T10:08:00.001Z'))
    expect(await world.bookingOf(email)).toEqual({ day: TODAY, at: new Date(AT) })
    expect(await world.turnOf(paris)).toEqual(new Date('2026-10-23T09:58:00.000Z'))
    await world.goTo('2026-10-23T10:08:00.001Z')
    expect(await turn(paris, email)).toEqual({ kind: 'ok', day: TODAY })
  })

  it('is not waited for beyond the end of the window', async () => {
    const paris = await world.sender({ gapMinSeconds: 600, gapMaxSeconds: 600 })
    const email = await world.leased(paris, TODAY, '2026-10-23T14:55:00.000Z')
    await world.setTurn(paris, '2026-10-23T14:53:00.000Z')
    await world.goTo('2026-10-23T14:55:00.000Z')
    expect((await laterThan(paris, email)).until).toEqual(new Date('2026-10-24T07:00:00.000Z'))
    expect(await world.bookingOf(email)).toEqual({ day: '2026-10-24', at: new Date('2026-10-24T07:00:00.000Z') })
    expect([...(await world.daysOf(paris)).keys()]).toEqual(['2026-10-24'])
  })

  describe('is checked again', () => {
    it('outside the window: it gets the next slot, by the clocks there', async () => {
      const paris = await world.sender({ dailyQuota: 5 })
      const email = await world.leased(paris, '2026-10-24', '2026-10-24T14:59:00.000Z')
      await world.goTo('2026-10-24T15:30:00.000Z')
      const { until, waitMs } = await laterThan(paris, email)
      // The night between is an hour longer.
      expect(until).toEqual(new Date('2026-10-25T08:00:00.000Z'))
      expect(Math.abs(waitMs - 16.5 * 3_600_000)).toBeLessThan(A_MOMENT_MS)
      expect(await world.turnOf(paris)).toBeNull()
    })

    it('on another day than it is booked on: the booking moves there, and the old day has room again', async () => {
      const paris = await world.sender({ dailyQuota: 2 })
      // So long ago that nobody looks there for a gap.
      const email = await world.leased(paris, '2026-09-01', '2026-09-01T10:00:00.000Z')
      const before = await readNow(database.db)
      expect(await turn(paris, email)).toEqual({ kind: 'ok', day: TODAY })
      const { day, at } = await world.bookingOf(email)
      expect(day).toBe(TODAY)
      expect(at!.getTime() % 1_000).toBe(0)
      expect(at!.getTime()).toBeGreaterThan(before.getTime() - 1_000)
      expect(await world.daysOf(paris)).toEqual(new Map([[TODAY, { booked: 1, slots: [at!.getTime() / 1_000] }]]))
    })

    it('on another day that is full: it gets a slot on the next that is not', async () => {
      const paris = await world.sender({ dailyQuota: 1 })
      await world.leased(paris, TODAY)
      const email = await world.leased(paris, '2026-10-22', '2026-10-22T10:00:00.000Z')
      expect((await laterThan(paris, email)).until).toEqual(new Date('2026-10-24T07:00:00.000Z'))
      expect([...(await world.daysOf(paris))].map(([day, { booked }]) => [day, booked])).toEqual([
        [TODAY, 1],
        ['2026-10-24', 1],
      ])
    })

    it('after the quota was lowered: what is booked today goes out today', async () => {
      const paris = await world.sender({ dailyQuota: 9 })
      const emails = [
        await world.leased(paris, TODAY, AT),
        await world.leased(paris, TODAY, '2026-10-23T10:05:00.000Z'),
      ]
      await world.changePace(paris, { dailyQuota: 1 })
      expect(await turn(paris, emails[0]!)).toEqual({ kind: 'ok', day: TODAY })
    })

    it('by the pace of now, not by that of the sender the worker remembers', async () => {
      const remembered = await world.sender({})
      const email = await world.leased(remembered, TODAY, AT)
      await world.changePace(remembered, { timezone: 'Asia/Tokyo', sendingDays: [1] })
      const { until } = await laterThan(remembered, email)
      expect(until).toEqual(new Date('2026-10-26T00:00:00.000Z'))
      expect(localDayOf({ timezone: 'Asia/Tokyo' }, until)).toBe((await world.bookingOf(email)).day)
      expect([...(await world.daysOf(remembered)).keys()]).toEqual(['2026-10-26'])
    })

    it('of a sender without a pace: only the gap counts', async () => {
      const free = await world.sender(null)
      const [first, second] = [await world.leased(free, null), await world.leased(free, null)]
      expect(await turn(free, first)).toEqual({ kind: 'ok', day: TODAY })
      const { until } = await laterThan(free, second)
      const since = until.getTime() - (await world.turnOf(free))!.getTime()
      expect(since).toBeGreaterThanOrEqual(30_000)
      expect(since).toBeLessThanOrEqual(91_000)
    })

    it('when no day is in sight: it is booked nowhere, and looked at again tomorrow', async () => {
      const paris = await world.sender({})
      const email = await world.leased(paris, TODAY, AT)
      await world.changePace(paris, { sendingDays: [] })
      const { waitMs } = await laterThan(paris, email)
      expect(waitMs).toBe(86_400_000)
      expect(await world.bookingOf(email)).toEqual({ day: null, at: null })
      expect((await world.daysOf(paris)).size).toBe(0)
      await world.changePace(paris, {})
      expect(await turn(paris, email)).toEqual({ kind: 'ok', day: TODAY })
    })
  })

  describe('is over', () => {
    const settle = async (email: LeasedEmail, outcome: Outcome) => {
      await database.db.query(`update postrider.scheduled_actions set state = 'armed' where id = $1`, [email.actionId])
      await settleActions(database.db, settledUnder(email.leaseToken, [{ id: email.actionId, outcome }]))
    }
    const begun = '2026-10-23T09:59:00.000Z'

    it('when its email was taken: the gap counts from there', async () => {
      const paris = await world.sender({ gapMinSeconds: 600, gapMaxSeconds: 600 })
      const [email, next] = [await world.leased(paris, TODAY, begun), await world.leased(paris, TODAY, AT)]
      await world.setTurn(paris, begun)
      await settle(email, { kind: 'done', booking: { senderId: paris.id, day: TODAY, keepsGap: true } })
      const ended = (await world.turnOf(paris))!
      expect(ended.getTime()).toBeGreaterThanOrEqual(Date.parse(AT))
      expect((await laterThan(paris, next)).until.getTime()).toBeGreaterThanOrEqual(ended.getTime() + 600_000)
    })

    it('neither by an email that keeps no gap, nor earlier than it is known to have been', async () => {
      const paris = await world.sender({})
      const booking = { senderId: paris.id, day: TODAY }
      await world.setTurn(paris, begun)
      await settle(await world.leased(paris, TODAY), { kind: 'done', booking })
      expect(await world.turnOf(paris)).toEqual(new Date(begun))
      const ahead = '2026-10-23T11:00:00.000Z'
      await world.setTurn(paris, ahead)
      await settle(await world.leased(paris, TODAY, begun), { kind: 'done', booking: { ...booking, keepsGap: true } })
      expect(await world.turnOf(paris)).toEqual(new Date(ahead))
    })
  })

  it('leaves the days as the emails say, whatever happened to them', async () => {
    const one = await world.sender({ dailyQuota: 6, gapMinSeconds: 300, gapMaxSeconds: 1_200 })
    const emails: LeasedEmail[] = []
    for (let i = 0; i < 14; i++)
      emails.push(await world.leased(one, i % 2 === 0 ? TODAY : '2026-10-20', i % 3 === 0 ? null : AT))
    for (const at of [AT, '2026-10-23T14:58:00.000Z', '2026-10-24T09:00:00.000Z', '2026-10-25T02:00:00.000Z']) {
      await world.goTo(at)
      await Promise.all(emails.map((email) => turn(one, email)))
      const bookings = await Promise.all(emails.map((email) => world.bookingOf(email)))
      for (const [day, { booked, slots }] of await world.daysOf(one)) {
        const there = bookings.filter((booking) => booking.day === day)
        expect([day, booked]).toEqual([day, there.length])
        const instants = there.flatMap((booking) => (booking.at ? booking.at.getTime() / 1_000 : []))
        expect(slots).toEqual(instants.toSorted((a, b) => a - b))
        if (day > TODAY) expect(booked).toBeLessThanOrEqual(6)
      }
    }
  })
})
