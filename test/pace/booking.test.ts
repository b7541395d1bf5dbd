import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { settleActions } from '../../src/db/settle-actions.js'
import { unbook } from '../../src/db/unbook-sender-day.js'
import { findSender, insertSender, type Sender } from '../../src/db/senders.js'
import { findSenderDay, readNow } from '../../src/db/sender-days.js'
import type { Settlement } from '../../src/domain/action.js'
import { OPEN_PACE, type Pace } from '../../src/domain/pace.js'
import { DEFAULT_WORKSPACE, newId, showId } from '../../src/id.js'
import { bookBulk } from '../../src/operations/book-bulk.js'
import { getDailySentCount, getNextAvailableSlot, getRemainingQuota } from '../../src/operations/sender-quota.js'
import { recheckPace } from '../../src/operations/recheck-pace.js'
import { seededRandom } from '../support/seeded-random.js'
import { DATABASE_KINDS, openTestDatabase, type TestDatabase } from '../support/test-database.js'
import { settledUnder } from '../support/held-under.js'

const HOUR_MS = 3_600_000
const AT = '2026-10-23T10:00:00.000Z' // a Friday, noon in Paris

describe.each(DATABASE_KINDS)('booking on %s', (kind) => {
  // Each test has senders of its own, so nothing needs to be cleared between them.
  let database: TestDatabase
  beforeAll(async () => {
    database = await openTestDatabase(kind)
  })
  afterAll(() => database.close())
  const PARIS: Pace = { ...OPEN_PACE, timezone: 'Europe/Paris', startMinute: 540, endMinute: 1_020 }

  /** The clock of the database is then this instant, and a moment more for every statement. */
  const goTo = async (instant: string) => {
    const now = await readNow(database.db)
    await database.shiftClock(Date.parse(instant) - now.getTime())
  }
  const sender = async (pace: Partial<Pace> | null, rampUpFrom: string | null = null): Promise<Sender> => {
    const id = newId()
    const address = `${id}@sender.test`
    const made = await insertSender(database.db, DEFAULT_WORKSPACE, id, {
      name: null,
      address,
      foldedAddress: address,
      provider: 'capture',
      credentials: null,
      isDefault: false,
      pace: pace && { ...PARIS, ...pace },
      rampUpFrom,
    })
    return made!
  }
  const book = (of: Sender, wanted: number) => database.db.transaction((tx) => bookBulk(tx, of, wanted))
  const dayOf = (of: Sender, day: string) => findSenderDay(database.db, DEFAULT_WORKSPACE, of.id, day)

  beforeEach(() => goTo(AT))

  it('grants everything to a sender without a pace, and books nothing', async () => {
    const free = await sender(null)
    expect(await book(free, 7)).toEqual({ kind: 'open', granted: 7, day: null })
    expect(await dayOf(free, '2026-10-23')).toEqual({ booked: 0, sent: 0 })
  })

  it('remembers a pace as it was given', async () => {
    const made = await sender({ dailyQuota: 5, blackoutDates: ['2026-12-25'] }, '2026-10-01')
    expect(await findSender(database.db, DEFAULT_WORKSPACE, made.id)).toMatchObject({
      pace: { ...PARIS, dailyQuota: 5, blackoutDates: ['2026-12-25'] },
      rampUpFrom: '2026-10-01',
    })
  })

  it('grants what is left of the quota, then closes until the next sending day', async () => {
    const few = await sender({ dailyQuota: 10, sendingDays: [1, 2, 3, 4, 5], blackoutDates: ['2026-10-26'] })
    expect(await book(few, 4)).toEqual({ kind: 'open', granted: 4, day: '2026-10-23' })
    expect(await book(few, 9)).toEqual({ kind: 'open', granted: 6, day: '2026-10-23' })
    // Tuesday: there is a weekend between, on which clocks went back, and Monday is blacked out.
    const until = new Date('2026-10-27T08:00:00.000Z')
    expect(await book(few, 1)).toEqual({ kind: 'closed', until, why: 'quota_used' })
    expect(await dayOf(few, '2026-10-23')).toEqual({ booked: 10, sent: 0 })
  })

  it('never grants 20 bookers at once more than the quota, and books what it grants', async () => {
    const random = seededRandom(7)
    for (const quota of [1, 13, 50, 400]) {
      const shared = await sender({ dailyQuota: quota })
      const wanted = Array.from({ length: 20 }, () => Math.floor(random.between(1, 10)))
      const answers = await Promise.all(wanted.map((count) => book(shared, count)))
      const granted = answers.reduce((sum, answer) => sum + (answer.kind === 'open' ? answer.granted : 0), 0)
      const asked = wanted.reduce((sum, count) => sum + count, 0)
      expect([quota, granted]).toEqual([quota, Math.min(quota, asked)])
      expect((await dayOf(shared, '2026-10-23')).booked).toBe(granted)
    }
  })

  it('takes nothing when the transaction it was booked in does not commit', async () => {
    const shared = await sender({ dailyQuota: 3 })
    const failing = database.db.transaction(async (tx) => {
      await bookBulk(tx, shared, 3)
      throw new Error('no emails after all')
    })
    await expect(failing).rejects.toThrow('no emails after all')
    expect(await book(shared, 3)).toMatchObject({ granted: 3 })
  })

  it('gives back what was left out', async () => {
    const shared = await sender({ dailyQuota: 3 })
    await book(shared, 3)
    await database.db.transaction((tx) => unbook(tx, shared.id, '2026-10-23', 2))
    expect(await book(shared, 5)).toMatchObject({ kind: 'open', granted: 2 })
  })

  it.each([
    ['2026-10-23T15:00:00.000Z', '2026-10-24T07:00:00.000Z', 'at the end of the window'],
    ['2026-10-24T15:30:00.000Z', '2026-10-25T08:00:00.000Z', 'the night clocks go back'],
    ['2026-03-28T17:00:00.000Z', '2026-03-29T07:00:00.000Z', 'the night clocks go forward'],
  ])('is closed at %s until %s: %s', async (at, until) => {
    const paris = await sender({ dailyQuota: 5 })
    await goTo(at)
    expect(await book(paris, 1)).toEqual({ kind: 'closed', until: new Date(until), why: 'outside_window' })
  })

  it('opens a window that begins in the hour that is left out right after the jump', async () => {
    const night = await sender({ startMinute: 150, endMinute: 240 })
    await goTo('2026-03-29T00:30:00.000Z')
    expect(await book(night, 1)).toMatchObject({ kind: 'closed', until: new Date('2026-03-29T01:00:00.000Z') })
  })

  it('grows with the ramp-up until the quota', async () => {
    const ramp = { dailyQuota: 25, rampUpEnabled: true, rampUpStart: 5, rampUpStep: 10 }
    const warm = await sender(ramp, '2026-10-22')
    expect(await book(warm, 100)).toMatchObject({ granted: 15 })
    await goTo('2026-10-24T10:00:00.000Z')
    expect(await book(warm, 100)).toMatchObject({ granted: 25 })
    await goTo('2026-10-25T10:00:00.000Z')
    expect(await book(warm, 100)).toMatchObject({ granted: 25 })
  })

  it('is read by the functions of the library', async () => {
    const few = await sender({ dailyQuota: 4 })
    const of = { senderId: showId('snd', few.id) }
    const read = [{ db: database.db }, DEFAULT_WORKSPACE] as const
    await book(few, 3)
    expect(await getRemainingQuota(...read, '2026-10-23', of)).toBe(1)
    // By the clocks of Paris it is the 23rd already.
    expect(await getRemainingQuota(...read, new Date('2026-10-22T22:30:00Z'), of)).toBe(1)
    expect(await getDailySentCount(...read, '2026-10-23', of)).toBe(0)
    expect(await getNextAvailableSlot(...read, new Date(AT), of)).toEqual(new Date(AT))
    await book(few, 3)
    expect(await getNextAvailableSlot(...read, new Date(AT), of)).toEqual(new Date('2026-10-24T07:00:00.000Z'))
    await expect(getRemainingQuota(...read, '23 October', of)).rejects.toMatchObject({ code: 'sender_invalid' })
    const missing = { senderId: showId('snd', newId()) }
    await expect(getDailySentCount(...read, '2026-10-23', missing)).rejects.toMatchObject({ code: 'sender_not_found' })
  })

  describe('at send time', () => {
    const leased = async (of: Sender, bookedOn: string | null) => {
      const [actionId, leaseToken] = [newId(), newId()]
      await database.db.query(
        `insert into postrider.scheduled_actions
           (id, workspace_id, lane_id, type, dedupe_key, state, run_at, lease_token, booked_on)
         values ($1::uuid, $2, $3, 'send', $1::uuid::text, 'leased', ${database.db.now}, $4, $5)`,
        [actionId, DEFAULT_WORKSPACE, of.id, leaseToken, bookedOn],
      )
      if (bookedOn !== null)
        await database.db.query(
          `insert into postrider.sender_days (sender_id, day, booked) values ($1, $2, 1)
           on conflict (sender_id, day) do update set booked = sender_days.booked + 1`,
          [of.id, bookedOn],
        )
      return { actionId, leaseToken, bookedOn }
    }
    const bookedOn = async (id: string) => {
      const { rows } = await database.db.query<{ day: string | null }>(
        `select booked_on::text as day from postrider.scheduled_actions where id = $1`,
        [id],
      )
      return rows[0]!.day
    }

    it('lets an email go on the day it is booked on, and any email of a sender without a pace', async () => {
      const paris = await sender({ dailyQuota: 1 })
      expect(await recheckPace(database.db, paris, await leased(paris, '2026-10-23'))).toEqual({
        kind: 'ok',
        day: '2026-10-23',
      })
      const free = await sender(null)
      expect(await recheckPace(database.db, free, await leased(free, null))).toEqual({ kind: 'ok', day: null })
    })

    it('sends it back to the next slot outside the window, and leaves the booking', async () => {
      const paris = await sender({ dailyQuota: 2 })
      const action = await leased(paris, '2026-10-23')
      await goTo('2026-10-23T15:00:00.000Z')
      const until = new Date('2026-10-24T07:00:00.000Z')
      const answer = await recheckPace(database.db, paris, action)
      expect(answer).toMatchObject({ kind: 'later', until })
      const { waitMs } = answer as { waitMs: number }
      expect(Math.abs(waitMs - 16 * HOUR_MS)).toBeLessThan(60_000)
      expect(await bookedOn(action.actionId)).toBe('2026-10-23')
    })

    it('moves the booking of one that is late, once, however many try', async () => {
      const paris = await sender({ dailyQuota: 5 })
      const action = await leased(paris, '2026-10-22')
      const answers = await Promise.all(Array.from({ length: 8 }, () => recheckPace(database.db, paris, action)))
      expect(answers.map(({ kind }) => kind).toSorted()).toEqual([...Array.from({ length: 7 }, () => 'lost'), 'ok'])
      expect(await bookedOn(action.actionId)).toBe('2026-10-23')
      expect([await dayOf(paris, '2026-10-22'), await dayOf(paris, '2026-10-23')]).toEqual([
        { booked: 0, sent: 0 },
        { booked: 1, sent: 0 },
      ])
    })

    it('moves only as many as the day has room for; the rest waits for the next day', async () => {
      const paris = await sender({ dailyQuota: 3 })
      const actions = []
      for (let i = 0; i < 8; i++) actions.push(await leased(paris, i % 2 === 0 ? '2026-10-22' : null))
      const answers = await Promise.all(actions.map((action) => recheckPace(database.db, paris, action)))
      expect(answers.filter(({ kind }) => kind === 'ok')).toHaveLength(3)
      const later = answers.filter((answer) => answer.kind === 'later')
      expect(later.map(({ until }) => until.toISOString())).toEqual(
        Array.from({ length: 5 }, () => '2026-10-24T07:00:00.000Z'),
      )
      expect((await dayOf(paris, '2026-10-23')).booked).toBe(3)
      const left = (await Promise.all(actions.map(({ actionId }) => bookedOn(actionId)))).filter(
        (day) => day === '2026-10-22',
      )
      expect((await dayOf(paris, '2026-10-22')).booked).toBe(left.length)
    })

    it('moves nothing for a worker that lost the lease', async () => {
      const paris = await sender({ dailyQuota: 3 })
      const action = await leased(paris, '2026-10-22')
      expect(await recheckPace(database.db, paris, { ...action, leaseToken: newId() })).toEqual({ kind: 'lost' })
      expect((await dayOf(paris, '2026-10-22')).booked).toBe(1)
    })
  })

  describe('what went out', () => {
    const armed = async (of: Sender, count: number, token: string) => {
      const ids = Array.from({ length: count }, newId)
      await database.db.query(
        `insert into postrider.scheduled_actions
           (id, workspace_id, lane_id, type, dedupe_key, state, run_at, lease_token, booked_on)
         select id, $2, $3, 'send', id::text, 'armed', ${database.db.now}, $4, '2026-10-23' from unnest($1::uuid[]) id`,
        [ids, DEFAULT_WORKSPACE, of.id, token],
      )
      return ids
    }
    const done = (of: Sender, ids: readonly string[], leaseToken: string): Settlement[] =>
      ids.map((id) => ({ id, leaseToken, outcome: { kind: 'done', booking: { senderId: of.id, day: '2026-10-23' } } }))

    it('is counted with its settling, and not again when that is repeated or the lease was lost', async () => {
      const [paris, token] = [await sender({ dailyQuota: 9 }), newId()]
      await book(paris, 3)
      const ids = await armed(paris, 3, token)
      await settleActions(database.db, done(paris, ids, newId()))
      expect(await dayOf(paris, '2026-10-23')).toEqual({ booked: 3, sent: 0 })
      await settleActions(database.db, done(paris, ids, token))
      await settleActions(database.db, done(paris, ids, token))
      expect(await dayOf(paris, '2026-10-23')).toEqual({ booked: 3, sent: 3 })
    })

    it('is not counted when it failed', async () => {
      const [paris, token] = [await sender({ dailyQuota: 9 }), newId()]
      await book(paris, 1)
      const [id] = await armed(paris, 1, token)
      const booking = { senderId: paris.id, day: '2026-10-23' }
      const outcome = { kind: 'failed', reason: { code: 'message', text: 'no' }, booking } as const
      await settleActions(database.db, settledUnder(token, [{ id: id!, outcome }]))
      expect(await dayOf(paris, '2026-10-23')).toEqual({ booked: 1, sent: 0 })
    })

    it('is counted for many senders at once, in whatever order they settle', async () => {
      const all = await Promise.all(Array.from({ length: 4 }, () => sender({ dailyQuota: 1_000 })))
      for (const one of all) await book(one, 60)
      const groups = []
      for (let i = 0; i < 20; i++) {
        const token = newId()
        const settlements: Settlement[] = []
        for (const one of i % 2 === 0 ? all : all.toReversed())
          settlements.push(...done(one, await armed(one, 3, token), token))
        groups.push(settlements)
      }
      await Promise.all(groups.map((settlements) => settleActions(database.db, settlements)))
      for (const one of all) expect(await dayOf(one, '2026-10-23')).toEqual({ booked: 60, sent: 60 })
    })
  })
})
