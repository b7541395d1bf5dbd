import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Sql } from '../../src/db/client.js'
import { giveBackBookings } from '../../src/db/give-back-bookings.js'
import type { Sender } from '../../src/db/senders.js'
import { lockSlotBook, saveSlotBook } from '../../src/db/slot-book.js'
import { isWithinSendingWindow, localDayOf } from '../../src/domain/pace.js'
import { type Slot, takeSlot } from '../../src/domain/slots.js'
import { newId } from '../../src/id.js'
import { bookBulk } from '../../src/operations/book-bulk.js'
import { recheckPace } from '../../src/operations/recheck-pace.js'
import { seededRandom } from '../support/seeded-random.js'
import { DATABASE_KINDS, openTestDatabase, type TestDatabase } from '../support/test-database.js'
import { gapsBetween, openPaceWorld, PARIS } from './pace-world.js'

const AT = '2026-10-23T10:00:00.000Z' // a Friday, noon in Paris

describe.each(DATABASE_KINDS)('a slot book on %s', (kind) => {
  let database: TestDatabase
  let world: ReturnType<typeof openPaceWorld>
  beforeAll(async () => {
    database = await openTestDatabase(kind)
    world = openPaceWorld(database)
  })
  afterAll(() => database.close())
  beforeEach(() => world.goTo(AT))

  const takeIn = async (tx: Sql, of: Sender, count: number, from = AT, random = () => 0.5): Promise<Slot[]> => {
    const book = await lockSlotBook(tx, of, new Date(from))
    const slots = Array.from({ length: count }, () => takeSlot(book, new Date(from), random)!)
    await saveSlotBook(tx, of.id, book)
    return slots
  }
  const take = (of: Sender, count: number, from = AT, random = () => 0.5) =>
    database.db.transaction((tx) => takeIn(tx, of, count, from, random))
  const giveBack = (of: Sender, slots: readonly Slot[]) =>
    database.db.transaction((tx) =>
      giveBackBookings(
        tx,
        slots.map(({ day, at }) => ({ senderId: of.id, bookedOn: day, slotAt: at })),
      ),
    )
  const seconds = (slots: readonly Slot[]) => slots.map(({ at }) => at.getTime() / 1_000)

  it.each(['Europe/Paris', 'Pacific/Kiritimati', 'Pacific/Honolulu'])(
    'is read as it was saved, in %s',
    async (timezone) => {
      const one = await world.sender({ timezone, startMinute: 0, endMinute: 1_440, dailyQuota: 4 })
      const taken = await take(one, 10)
      const stored = await world.daysOf(one)
      expect([...stored.values()].flatMap(({ slots }) => slots)).toEqual(seconds(taken))
      await database.db.transaction(async (tx) => {
        const book = await lockSlotBook(tx, one, new Date(AT))
        expect(new Map(book.days)).toEqual(stored)
        expect(book.changed.size).toBe(0)
      })
    },
  )

  it('goes by the pace the sender has when it is locked, and by an open one if it has none', async () => {
    const known = await world.sender({ dailyQuota: 5 })
    await world.changePace(known, { timezone: 'Asia/Tokyo', dailyQuota: 1 })
    expect((await take(known, 2)).map(({ day }) => day)).toEqual(['2026-10-24', '2026-10-25'])
    const free = await world.sender(null)
    expect(await take(free, 2)).toEqual([
      { day: '2026-10-23', at: new Date('2026-10-23T10:00:00Z') },
      { day: '2026-10-23', at: new Date('2026-10-23T10:01:00Z') },
    ])
  })

  it(
    'gives 20 that book at once, and bulk beside them, nothing twice and nothing too close',
    { timeout: 120_000 },
    async () => {
      const pace = { ...PARIS, sendingDays: [1, 2, 3, 4, 5], dailyQuota: 30, gapMinSeconds: 20, gapMaxSeconds: 200 }
      const shared = await world.sender(pace)
      const random = seededRandom(5)
      const late = await Promise.all(Array.from({ length: 4 }, () => world.leased(shared, '2026-10-22')))
      const slots: Slot[] = []
      let bulk = 0
      const launches = Array.from({ length: 20 }, async (_, i) => {
        // Some from now, some for later, as the steps of sequences are.
        const from = new Date(Date.parse(AT) + (i % 3) * 86_400_000).toISOString()
        slots.push(...(await take(shared, 4, from, random.next)))
      })
      const batches = Array.from({ length: 6 }, async () => {
        const booking = await database.db.transaction((tx) => bookBulk(tx, shared, 3))
        if (booking.kind === 'open') bulk += booking.granted
      })
      const moves = late.map(async (email) => {
        const check = await recheckPace(database.db, shared, { ...email, bookedOn: '2026-10-22' })
        if (check.kind === 'ok') bulk++
      })
      await Promise.all([...launches, ...batches, ...moves])
      expect(slots).toHaveLength(80)
      for (const gap of gapsBetween(seconds(slots))) expect(gap).toBeGreaterThanOrEqual(20)
      for (const { day, at } of slots)
        expect([isWithinSendingWindow(pace, at), localDayOf(pace, at)]).toEqual([true, day])
      const days = new Map(await world.daysOf(shared))
      days.delete('2026-10-22')
      for (const { booked } of days.values()) expect(booked).toBeLessThanOrEqual(30)
      const stored = [...days.values()]
      expect(stored.flatMap((day) => day.slots)).toEqual(seconds(slots).toSorted((a, b) => a - b))
      expect(stored.reduce((sum, { booked }) => sum + booked, 0)).toBe(80 + bulk)
      expect(bulk).toBeGreaterThan(0)
    },
  )

  it('leaves nothing booked when the transaction does not commit', async () => {
    const one = await world.sender({ dailyQuota: 3 })
    const kept = await take(one, 1)
    const before = await world.daysOf(one)
    const failing = database.db.transaction(async (tx) => {
      await takeIn(tx, one, 7)
      throw new Error('no emails after all')
    })
    await expect(failing).rejects.toThrow('no emails after all')
    expect(await world.daysOf(one)).toEqual(before)
    const [next] = await take(one, 1)
    expect(gapsBetween(seconds([...kept, next!]))).toEqual([60])
  })

  it('has room again for what is given back, and only for that', async () => {
    const one = await world.sender({ dailyQuota: 3 })
    const taken = await take(one, 5)
    await giveBack(one, [taken[1]!, taken[4]!])
    expect(await world.daysOf(one)).toEqual(
      new Map([
        ['2026-10-23', { booked: 2, slots: seconds([taken[0]!, taken[2]!]) }],
        ['2026-10-24', { booked: 1, slots: seconds([taken[3]!]) }],
      ]),
    )
    expect(await take(one, 2, AT, () => 0.5)).toEqual([taken[1]!, taken[4]!])
  })

  it('gives nothing back for what was not booked, and for a sender that is gone', async () => {
    const one = await world.sender({})
    const [slot] = await take(one, 1)
    const before = await world.daysOf(one)
    const nothing = { bookedOn: null, slotAt: null }
    await database.db.transaction((tx) =>
      giveBackBookings(tx, [
        { senderId: one.id, ...nothing },
        { senderId: newId(), bookedOn: slot!.day, slotAt: slot!.at },
      ]),
    )
    expect(await world.daysOf(one)).toEqual(before)
  })

  it('of two senders is given back by many at once, in whatever order they name them', async () => {
    const [one, other] = [await world.sender({}), await world.sender({})]
    const [mine, others] = [await take(one, 20), await take(other, 20)]
    await Promise.all(
      mine.map((slot, i) => {
        const named = [
          { senderId: one.id, bookedOn: slot.day, slotAt: slot.at },
          { senderId: other.id, bookedOn: others[i]!.day, slotAt: others[i]!.at },
        ]
        return database.db.transaction((tx) => giveBackBookings(tx, i % 2 === 0 ? named : named.toReversed()))
      }),
    )
    expect([(await world.daysOf(one)).size, (await world.daysOf(other)).size]).toEqual([0, 0])
  })
})
