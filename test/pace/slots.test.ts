import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isWithinSendingWindow, localDayOf, OPEN_PACE, type Pace, quotaOn } from '../../src/domain/pace.js'
import { bookSlot, giveBackSlot, hasRoom, type SlotBook, takeSlot } from '../../src/domain/slots.js'
import { seededRandom } from '../support/seeded-random.js'
import { dateOf, DAY_MS, drawnPaces, drawnSteps, readAgain } from './drawn-paces.js'
import { firstFit, openMinutes, type PlainSlot } from './slow-slots.js'

const OFFICE: Pace = {
  ...OPEN_PACE,
  timezone: 'Europe/Paris',
  sendingDays: [1, 2, 3, 4, 5],
  startMinute: 540,
  endMinute: 1_020,
}
const bookOf = (pace: Partial<Pace> = {}, rampUpFrom: string | null = null): SlotBook => ({
  pace: { ...OFFICE, ...pace },
  rampUpFrom,
  days: new Map(),
  changed: new Set(),
})
/** With the smallest gap, unless told otherwise. */
const take = (book: SlotBook, notBefore: string, random = 0): string | null =>
  takeSlot(book, new Date(notBefore), () => random)?.at.toISOString() ?? null

describe('a slot', () => {
  it('is the first second that fits, whatever was taken, given back or changed before', { timeout: 120_000 }, () => {
    let [compared, waited] = [0, 0]
    fc.assert(
      fc.property(drawnPaces, drawnSteps, ({ pace: first, rampUpFrom, base }, steps) => {
        const [earliest, latest] = [base - DAY_MS, base + 7 * DAY_MS].map((ms) => Math.floor(ms / 60_000))
        const openOf = (pace: Pace) => openMinutes(pace, earliest!, latest!)
        let book: SlotBook = { pace: first, rampUpFrom, days: new Map(), changed: new Set() }
        let open = openOf(first)
        let slots: PlainSlot[] = []
        const bulk = new Map<string, number>()
        const count = (day: string, more: number) => bulk.set(day, (bulk.get(day) ?? 0) + more)
        let asked = base
        for (const step of steps) {
          const { pace } = book
          if (step.kind === 'give back') {
            const slot = slots[step.which % slots.length]
            if (!slot) continue
            slots = slots.filter((other) => other !== slot)
            giveBackSlot(book, { day: slot.day, at: new Date(slot.at * 1_000) })
          } else if (step.kind === 'bulk') {
            book = readAgain(book, pace)
            const day = dateOf(base + step.day * DAY_MS)
            const { booked, slots: kept } = book.days.get(day) ?? { booked: 0, slots: [] }
            book.days.set(day, { booked: booked + step.count, slots: kept })
            count(day, step.count)
          } else if (step.kind === 'other pace') {
            const { window, gap } = step.shape
            const hours = { startMinute: window[0], endMinute: window[1] }
            const gaps = { gapMinSeconds: gap[0], gapMaxSeconds: gap[1] }
            book = readAgain(book, { ...pace, timezone: step.timezone, ...hours, ...gaps })
            open = openOf(book.pace)
          } else {
            if (step.kind === 'take') asked = base + step.ms
            const { gapMinSeconds, gapMaxSeconds } = pace
            const gap = gapMinSeconds + Math.floor(step.random * (gapMaxSeconds - gapMinSeconds + 1))
            const from = Math.ceil(asked / 1_000)
            const until = from + 4 * 86_400
            const expected = firstFit({ pace, rampUpFrom, slots, bulk }, open, { from, until, gap })
            const found = takeSlot(book, new Date(asked), () => step.random)
            if (!expected) {
              waited++
              if (found && found.at.getTime() < until * 1_000) throw new Error(`${found.at.toISOString()} does not fit`)
              if (found) giveBackSlot(book, found)
              continue
            }
            compared++
            expect(found && { day: found.day, at: found.at.getTime() / 1_000 }).toEqual(expected)
            // Without a gap they are counted on the day, and no slot is kept.
            if (gapMaxSeconds === 0) count(expected.day, 1)
            else slots.push(expected)
          }
        }
        for (const [day, { booked, slots: kept }] of book.days) {
          const mine = slots.filter((slot) => slot.day === day).map(({ at }) => at)
          expect(kept).toEqual(mine.toSorted((a, b) => a - b))
          expect(booked).toBe(mine.length + (bulk.get(day) ?? 0))
        }
      }),
      { numRuns: 400 },
    )
    expect(compared).toBeGreaterThan(1_000)
    expect(waited).toBeGreaterThan(10)
  })

  it('is the same whether much was searched before or nothing, and thousands of them keep every rule', () => {
    const random = seededRandom(11)
    const zones = ['Europe/Paris', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata']
    for (let run = 0; run < 24; run++) {
      const [gapMinSeconds, more] = [Math.floor(random.between(0, 600)), Math.floor(random.between(1, 900))]
      const book = bookOf({
        timezone: random.pick(zones),
        ...random.pick([
          { startMinute: 0, endMinute: 1_440 },
          { startMinute: 540, endMinute: 1_020 },
          { endMinute: 600 },
        ]),
        dailyQuota: random.pick([null, 7, 60]),
        gapMinSeconds,
        gapMaxSeconds: gapMinSeconds + more,
      })
      const { pace } = book
      // Two weeks around the day on which clocks go back in Paris.
      const base = Date.parse('2026-10-20T00:00:00Z')
      const taken: { day: string; at: Date }[] = []
      for (let i = 0; i < 150; i++) {
        const notBefore = new Date(base + (i % 3 === 0 ? 0 : random.between(0, 12 * DAY_MS)))
        const dice = random.next()
        const fresh = readAgain(book, pace)
        const slot = takeSlot(book, notBefore, () => dice)!
        expect(takeSlot(fresh, notBefore, () => dice)).toEqual(slot)
        expect(slot.at.getTime()).toBeGreaterThanOrEqual(notBefore.getTime())
        taken.push(slot)
        if (random.next() < 0.2) {
          const [given] = taken.splice(Math.floor(random.between(0, taken.length)), 1)
          giveBackSlot(book, given!)
        }
      }
      const instants = taken.map(({ at }) => at.getTime() / 1_000).toSorted((a, b) => a - b)
      for (const [i, at] of instants.entries())
        if (i > 0) expect(at - instants[i - 1]!).toBeGreaterThanOrEqual(gapMinSeconds)
      for (const { day, at } of taken) {
        expect([isWithinSendingWindow(pace, at), localDayOf(pace, at)]).toEqual([true, day])
        expect(book.days.get(day)!.booked).toBeLessThanOrEqual(quotaOn(pace, null, day) ?? Infinity)
      }
      expect([...book.days.values()].flatMap(({ slots }) => slots).toSorted((a, b) => a - b)).toEqual(instants)
    }
  })

  it('is a whole second, not before it was asked for', () => {
    expect(take(bookOf(), '2026-06-01T08:00:00.001Z')).toBe('2026-06-01T08:00:01.000Z')
    expect(take(bookOf(), '2026-06-01T08:00:00.000Z')).toBe('2026-06-01T08:00:00.000Z')
    expect(take(bookOf(), '2026-06-01T14:59:59.000Z')).toBe('2026-06-01T14:59:59.000Z')
    expect(take(bookOf(), '2026-06-01T14:59:59.001Z')).toBe('2026-06-02T07:00:00.000Z')
  })

  it('keeps a random gap after the one before it, from the smallest to the largest', () => {
    const after = (random: number) => {
      const book = bookOf()
      take(book, '2026-06-01T08:00:00Z')
      return take(book, '2026-06-01T08:00:00Z', random)
    }
    expect([0, 0.5, 0.999999].map(after)).toEqual([
      '2026-06-01T08:00:30.000Z',
      '2026-06-01T08:01:00.000Z',
      '2026-06-01T08:01:30.000Z',
    ])
  })

  it('keeps the gap over midnight, and over a night between two windows', () => {
    const allDay = bookOf({ ...OPEN_PACE, timezone: 'Europe/Paris' })
    expect(take(allDay, '2026-06-01T21:59:50Z')).toBe('2026-06-01T21:59:50.000Z')
    expect(take(allDay, '2026-06-01T21:59:50Z')).toBe('2026-06-01T22:00:20.000Z')
    expect([...allDay.days.keys()]).toEqual(['2026-06-01', '2026-06-02'])
    // From the other side: there is one shortly after midnight already.
    expect(take(allDay, '2026-06-01T21:59:25Z')).toBe('2026-06-01T22:00:50.000Z')
    const wide = bookOf({ gapMinSeconds: 80_000, gapMaxSeconds: 80_000 })
    expect(take(wide, '2026-06-01T14:00:00Z')).toBe('2026-06-01T14:00:00.000Z')
    expect(take(wide, '2026-06-01T14:00:00Z')).toBe('2026-06-02T12:13:20.000Z')
  })

  it('goes where there is room between two others, and nowhere else', () => {
    const book = bookOf({ gapMinSeconds: 30, gapMaxSeconds: 30 })
    for (const at of ['2026-06-01T08:00:00Z', '2026-06-01T08:00:59Z', '2026-06-01T08:01:59Z']) take(book, at)
    expect(take(book, '2026-06-01T08:00:00Z')).toBe('2026-06-01T08:01:29.000Z')
    expect(take(book, '2026-06-01T08:00:00Z')).toBe('2026-06-01T08:02:29.000Z')
  })

  it('keeps its gap from those that were booked when the sender lived elsewhere', () => {
    const honolulu = bookOf({ ...OPEN_PACE, timezone: 'Pacific/Honolulu' })
    expect(takeSlot(honolulu, new Date('2026-06-02T03:00:00Z'), () => 0)).toMatchObject({ day: '2026-06-01' })
    expect(takeSlot(honolulu, new Date('2026-06-02T09:00:00Z'), () => 0)).toMatchObject({ day: '2026-06-01' })
    const kiritimati = readAgain(honolulu, { ...OPEN_PACE, timezone: 'Pacific/Kiritimati' })
    const slot = takeSlot(kiritimati, new Date('2026-06-02T03:00:00Z'), () => 0)
    expect(slot).toEqual({ day: '2026-06-02', at: new Date('2026-06-02T03:00:30Z') })
  })

  it('is on the next day when the quota of the day is used, which grows with the ramp-up', () => {
    const ramp = { dailyQuota: 3, rampUpEnabled: true, rampUpStart: 1, rampUpStep: 1 }
    const book = bookOf(ramp, '2026-06-01')
    const days = Array.from({ length: 10 }, () => takeSlot(book, new Date('2026-06-01T08:00:00Z'), () => 0)!.day)
    const [one, two, three] = ['2026-06-01', '2026-06-02', '2026-06-03']
    expect(days).toEqual([one, two, two, three, three, three, '2026-06-04', '2026-06-04', '2026-06-04', '2026-06-05'])
    expect([hasRoom(book, one), hasRoom(book, '2026-06-05')]).toEqual([false, true])
  })

  it('is counted and not kept without a gap', () => {
    const book = bookOf({ gapMinSeconds: 0, gapMaxSeconds: 0, dailyQuota: 2 })
    const slots = Array.from({ length: 3 }, () => take(book, '2026-06-01T08:00:00Z'))
    expect(slots).toEqual(['2026-06-01T08:00:00.000Z', '2026-06-01T08:00:00.000Z', '2026-06-02T07:00:00.000Z'])
    expect(book.days.get('2026-06-01')).toEqual({ booked: 2, slots: [] })
  })

  it('is none when nothing opens within two years', () => {
    expect(take(bookOf({ sendingDays: [] }), '2026-06-01T08:00:00Z')).toBeNull()
    const all = Array.from({ length: 800 }, (_, i) => dateOf(Date.UTC(2026, 0, 1) + i * DAY_MS))
    const book = bookOf({ blackoutDates: all })
    expect(take(book, '2026-01-01T00:00:00Z')).toBeNull()
    expect([book.days.size, book.changed.size]).toEqual([0, 0])
    expect(take(book, '2028-01-01T00:00:00Z')).toBe('2028-03-13T08:00:00.000Z')
  })
})

describe('giving back', () => {
  it('frees the place, the count and the gap, and says which day is to be saved', () => {
    const book = bookOf({ dailyQuota: 2 })
    const [first, second] = [0, 0].map(() => takeSlot(book, new Date('2026-06-01T08:00:00Z'), () => 0)!)
    expect(take(book, '2026-06-01T08:00:00Z')).toBe('2026-06-02T07:00:00.000Z')
    book.changed.clear()
    giveBackSlot(book, first!)
    expect([...book.changed]).toEqual(['2026-06-01'])
    expect(book.days.get('2026-06-01')).toEqual({ booked: 1, slots: [second!.at.getTime() / 1_000] })
    expect(take(book, '2026-06-01T08:00:00Z')).toBe('2026-06-01T08:00:00.000Z')
  })

  it('takes nothing from anybody else: not what is unknown, not below nothing, not a slot of another', () => {
    const book = bookOf()
    const slot = takeSlot(book, new Date('2026-06-01T08:00:00Z'), () => 0)!
    giveBackSlot(book, { day: '2026-05-01', at: slot.at })
    expect(book.days.has('2026-05-01')).toBe(false)
    giveBackSlot(book, { day: slot.day, at: null })
    giveBackSlot(book, { day: slot.day, at: new Date('2026-06-01T09:00:00Z') })
    expect(book.days.get(slot.day)).toEqual({ booked: 0, slots: [slot.at.getTime() / 1_000] })
  })

  it('leaves what goes out now where it is, however close to others', () => {
    const book = bookOf()
    take(book, '2026-06-01T08:00:10Z')
    bookSlot(book, { day: '2026-06-01', at: new Date('2026-06-01T08:00:00Z') })
    expect(take(book, '2026-06-01T07:59:40Z')).toBe('2026-06-01T08:00:40.000Z')
    expect(book.days.get('2026-06-01')!.booked).toBe(3)
  })
})
