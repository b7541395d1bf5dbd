import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OPEN_PACE, type Pace } from '../../src/domain/pace.js'
import { dayOf, daysOf, type SlotDay } from '../../src/domain/slot-days.js'
import { findHoleAfter, insertTaken } from '../../src/domain/slot-holes.js'
import { bookSlot, giveBackSlot, type Slot, type SlotBook, takeSlot } from '../../src/domain/slots.js'
import { readIsoDate } from '../../src/domain/zone-days.js'
import { seededRandom } from '../support/seeded-random.js'
import { dateOf, DAY_MS, readAgain } from './drawn-paces.js'
import { searchLinearly } from './linear-search.js'

/** Days on which clocks go back, over midnight too: windows in two pieces; one that is left out; and one like any other. */
const PLACES = [
  ['Europe/Paris', '2026-10-25'],
  ['America/St_Johns', '2006-10-29'],
  ['Australia/Lord_Howe', '2026-04-05'],
  ['Pacific/Apia', '2011-12-30'],
  ['UTC', '2026-06-01'],
] as const
/** Mostly short ones, which are soon full. */
const WINDOWS = [
  [90, 150],
  [0, 20],
  [1_420, 1_440],
  [0, 1_440],
] as const
const GAPS = [
  [0, 3],
  [1, 5],
  [1, 60],
  [30, 90],
  [50, 400],
  [5_000, 40_000],
] as const

const crowdedDays = fc.record({
  place: fc.constantFrom(...PLACES),
  window: fc.constantFrom(...WINDOWS),
  gap: fc.constantFrom(...GAPS),
  quota: fc.constantFrom(null, null, 40),
  seed: fc.integer(),
})

describe('the search for a hole', () => {
  it('finds what looking at one hole after the other finds, on thousands of crowded days', { timeout: 240_000 }, () => {
    const seen = { days: new Set<string>(), same: 0, later: 0, back: 0 }
    const property = fc.property(crowdedDays, ({ place: [timezone, date], window, gap, quota, seed }) => {
      const random = seededRandom(seed)
      const base = Date.parse(date)
      const pace: Pace = {
        ...OPEN_PACE,
        timezone,
        startMinute: window[0],
        endMinute: window[1],
        dailyQuota: quota,
        gapMinSeconds: gap[0],
        gapMaxSeconds: gap[1],
      }
      let book: SlotBook = { pace, rampUpFrom: null, days: new Map(), changed: new Set() }
      const slots: Slot[] = []
      // What somebody has booked before: anywhere, however close together.
      for (let i = random.between(0, 30); i > 0; i--) bookAt(random.between(-DAY_MS, 2 * DAY_MS))
      book = readAgain(book, pace)
      let from = base
      for (let step = 0; step < 60; step++) {
        const what = random.next()
        if (what < 0.1 && slots.length > 0) {
          const [slot] = slots.splice(Math.floor(random.between(0, slots.length)), 1)
          giveBackSlot(book, slot!)
          seen.back++
        } else if (what < 0.13) bookAt(random.between(0, DAY_MS))
        else {
          // Mostly from the same instant on, as a launch asks.
          if (what < 0.3) from = base + random.between(-DAY_MS / 2, DAY_MS)
          const dice = random.next()
          const expected = searchLinearly(book, new Date(from), () => dice)
          const found = takeSlot(book, new Date(from), () => dice)
          expect(found).toEqual(expected)
          slots.push(found!)
          seen.days.add(`${seed} ${found!.day}`)
          if (found!.at.getTime() - from < DAY_MS) seen.same++
          else seen.later++
        }
      }

      function bookAt(after: number): void {
        const slot = { at: new Date(Math.floor((base + after) / 1_000) * 1_000), day: dateOf(base + after) }
        bookSlot(book, slot)
        slots.push(slot)
      }
    })
    fc.assert(property, { numRuns: 1_000 })
    expect(seen.days.size).toBeGreaterThan(4_000)
    for (const count of [seen.same, seen.later, seen.back]) expect(count).toBeGreaterThan(1_000)
  })

  it('looks at few of the slots of a day that is nearly full', () => {
    const pace = { ...OPEN_PACE, startMinute: 540, endMinute: 1_020, gapMinSeconds: 1, gapMaxSeconds: 5 }
    const days = daysOf({ pace, rampUpFrom: null, days: new Map(), changed: new Set() })
    const plain = dayOf(days, readIsoDate('2026-06-01')!)
    const start = plain.pieces[0]!.from
    let looks = 0
    const taken = new Proxy<number[]>([], {
      get(slots, name, receiver) {
        if (typeof name === 'string' && /^\d/.test(name)) looks++
        return Reflect.get(slots, name, receiver) as unknown
      },
    })
    const day: SlotDay = { ...plain, taken }
    // Every four seconds, but for one that is missing.
    for (let at = 0; at < 28_800; at += 4) if (at !== 28_000) insertTaken(day, start + at)
    const search = (time: number) => {
      looks = 0
      return findHoleAfter(day, start, time)! - start
    }
    // The first search has to learn of all of them.
    expect(search(5)).toBe(27_996)
    expect(looks).toBeGreaterThan(7_000)
    expect(search(5)).toBe(27_996)
    expect(looks).toBeLessThan(100)
    insertTaken(day, start + 28_000)
    expect(search(5)).toBe(28_796)
    expect(looks).toBeLessThan(200)
  })
})
