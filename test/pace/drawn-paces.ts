import fc from 'fast-check'
import { OPEN_PACE, type Pace } from '../../src/domain/pace.js'
import type { SlotBook } from '../../src/domain/slots.js'

/** Paces, and what happens to a book of slots, drawn at random around instants at which clocks jump. */

/** At night, over midnight, by half an hour, by a whole day, and not at all. */
const PLACES = [
  ['Europe/Paris', '2026-03-29T01:00Z'],
  ['Europe/Paris', '2026-10-25T01:00Z'],
  ['America/New_York', '2026-11-01T06:00Z'],
  ['America/St_Johns', '2006-10-29T02:31Z'],
  ['America/Sao_Paulo', '2018-02-18T02:00Z'],
  ['America/Sao_Paulo', '2017-10-15T03:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00Z'],
  ['UTC', '2028-02-28T23:00Z'],
] as const

export const DAY_MS = 86_400_000

const hours = fc
  .tuple(fc.integer({ min: 0, max: 143 }), fc.integer({ min: 1, max: 12 }))
  .map(([start, length]) => [start * 10, Math.min((start + length) * 10, 1_440)] as const)
const wholeDay = fc.constant([0, 1_440] as const)
const gapOf = (min: number, max: number) =>
  fc
    .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
    .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)

const shapes = fc.oneof(
  fc.record({ window: hours, gap: fc.constant([0, 0] as const) }),
  fc.record({ window: fc.oneof(hours, wholeDay), gap: gapOf(0, 200) }),
  fc.record({ window: hours, gap: gapOf(300, 6_000) }),
  // Nearly a day: the slot before is then on another one.
  fc.record({ window: hours, gap: gapOf(70_000, 86_400) }),
)
const sendingDays = fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 5, maxLength: 7 })
const quotas = fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 6 }))
const ramps = fc.option(
  fc.record({
    start: fc.integer({ min: 1, max: 3 }),
    step: fc.integer({ min: 1, max: 2 }),
    from: fc.integer({ min: -2, max: 2 }),
  }),
)

export interface DrawnPace {
  readonly pace: Pace
  readonly rampUpFrom: string | null
  /** Around which everything happens. */
  readonly base: number
}

export const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

export const drawnPaces: fc.Arbitrary<DrawnPace> = fc
  .record({ place: fc.constantFrom(...PLACES), shape: shapes, sendingDays, quota: quotas, ramp: ramps })
  .map(({ place: [timezone, at], shape, sendingDays, quota, ramp }) => {
    const base = Date.parse(at)
    const pace = {
      ...OPEN_PACE,
      timezone,
      startMinute: shape.window[0],
      endMinute: shape.window[1],
      sendingDays,
      dailyQuota: ramp ? (quota ?? 6) : quota,
      rampUpEnabled: ramp !== null,
      ...(ramp && { rampUpStart: ramp.start, rampUpStep: ramp.step }),
      gapMinSeconds: shape.gap[0],
      gapMaxSeconds: shape.gap[1],
    }
    return { pace, rampUpFrom: ramp && dateOf(base + ramp.from * DAY_MS), base }
  })

const dice = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
/** As far apart as two calendars can be: what was booked on one date lies among the hours of another. */
const elsewhere = fc.constantFrom('UTC', 'Pacific/Kiritimati', 'Pacific/Honolulu')

export const drawnSteps = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('take' as const),
        ms: fc.integer({ min: -DAY_MS, max: 2 * DAY_MS }),
        random: dice,
      }),
    },
    // The same instant once more, as a launch asks.
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('again' as const), random: dice }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('give back' as const), which: fc.nat() }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('bulk' as const),
        day: fc.integer({ min: -1, max: 1 }),
        count: fc.integer({ min: 1, max: 3 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('other pace' as const), timezone: elsewhere, shape: shapes }),
    },
  ),
  { minLength: 5, maxLength: 30 },
)

/** As it would be read after it was saved: nothing that was found out on the way is known. */
export const readAgain = ({ days, rampUpFrom }: SlotBook, pace: Pace): SlotBook => ({
  pace,
  rampUpFrom,
  days: new Map(
    [...days]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([day, { booked, slots }]) => [day, { booked, slots: [...slots] }]),
  ),
  changed: new Set(),
})
