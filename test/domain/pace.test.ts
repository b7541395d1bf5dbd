import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  calculateRampUpQuota,
  getFirstSlotAfterDay,
  getNextSendingSlot,
  isWithinSendingWindow,
  localDayOf,
  OPEN_PACE,
  type Pace,
  quotaOn,
} from '../../src/domain/pace.js'
import { checkPace, readPace, showHour } from '../../src/domain/read-pace.js'
import { isOpen, wallAt } from './wall-clock.js'

const MINUTE = 60_000
const DAY = 86_400_000
const ZONES = Intl.supportedValuesOf('timeZone')
const OFFICE: Pace = {
  ...OPEN_PACE,
  timezone: 'Europe/Paris',
  sendingDays: [1, 2, 3, 4, 5],
  startMinute: 540,
  endMinute: 1_020,
}
const next = (pace: Pace, from: string) => getNextSendingSlot(pace, new Date(from))?.toISOString() ?? null

const CASES = readFileSync(new URL('pace-cases.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))

function readCase(line: string) {
  const [timezone, window, days, from, expected] = line.split(' ') as [string, string, string, string, string]
  const [start, end] = window.split('-') as [string, string]
  const [weekdays, ...blackoutDates] = days.split(',') as [string, ...string[]]
  const { pace } = readPace({
    timezone,
    startHour: start,
    endHour: end,
    sendingDays: weekdays.split('').map(Number),
    blackoutDates,
  })
  return { pace: pace!, from: new Date(from), expected: new Date(expected) }
}

describe('the next slot', () => {
  it('is the one of the table, in more than 200 cases', () => {
    expect(CASES.length).toBeGreaterThan(200)
    const wrong = CASES.filter((line) => {
      const { pace, from, expected } = readCase(line)
      return getNextSendingSlot(pace, from)?.getTime() !== expected.getTime()
    })
    expect(wrong).toEqual([])
  })

  it('is the same whatever the timezone of the machine', async () => {
    const at = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)
    const program = `
      import { readFileSync } from 'node:fs'
      import { getNextSendingSlot } from ${at('../../src/domain/pace.ts')}
      import { readPace } from ${at('../../src/domain/read-pace.ts')}
      const cases = readFileSync(new URL(${at('pace-cases.txt')}), 'utf8').split('\\n').filter((l) => l && l[0] !== '#')
      const answers = cases.map((line) => {
        const [timezone, window, days, from] = line.split(' ')
        const [startHour, endHour] = window.split('-')
        const [weekdays, ...blackoutDates] = days.split(',')
        const { pace } = readPace({ timezone, startHour, endHour, sendingDays: weekdays.split('').map(Number), blackoutDates })
        return getNextSendingSlot(pace, new Date(from)).getTime()
      })
      console.log(JSON.stringify({ host: new Date(2026, 0, 1).getTimezoneOffset(), answers }))`
    const loader = fileURLToPath(new URL('../support/load-typescript.mjs', import.meta.url))
    const ask = async (host: string) => {
      const argv = ['--import', loader, '--input-type=module', '-e', program]
      const { stdout } = await promisify(execFile)(process.execPath, argv, { env: { ...process.env, TZ: host } })
      return JSON.parse(stdout) as { host: number; answers: number[] }
    }
    const hosts = await Promise.all(['UTC', 'America/New_York', 'Asia/Kolkata', 'Pacific/Apia'].map(ask))
    // The machines really were in four timezones.
    expect(hosts.map(({ host }) => host)).toEqual([0, 300, -330, -780])
    const expected = CASES.map((line) => readCase(line).expected.getTime())
    for (const { answers } of hosts) expect(answers).toEqual(expected)
  })

  it.each([
    ['2026-06-01T06:59:59.999Z', '2026-06-01T07:00:00.000Z', 'a millisecond before it opens'],
    ['2026-06-01T07:00:00.000Z', '2026-06-01T07:00:00.000Z', 'when it opens'],
    ['2026-06-01T14:59:59.999Z', '2026-06-01T14:59:59.999Z', 'the last millisecond'],
    ['2026-06-01T15:00:00.000Z', '2026-06-02T07:00:00.000Z', 'the end is not part of it'],
    ['2026-06-05T15:00:00.000Z', '2026-06-08T07:00:00.000Z', 'over a weekend'],
    ['2026-12-31T16:00:00.000Z', '2027-01-01T08:00:00.000Z', 'over a year end'],
    ['2028-02-28T16:00:00.000Z', '2028-02-29T08:00:00.000Z', 'onto a leap day'],
  ])('from %s is %s: %s', (from, slot) => {
    expect(next(OFFICE, from)).toBe(slot)
    expect(isWithinSendingWindow(OFFICE, new Date(from))).toBe(from === slot)
  })

  it('is not on a day that is blacked out, and is none when all are', () => {
    const pace = { ...OFFICE, blackoutDates: ['2026-12-25', '2026-12-28'] }
    expect(next(pace, '2026-12-24T16:00:00.000Z')).toBe('2026-12-29T08:00:00.000Z')
    const all = Array.from({ length: 800 }, (_, i) =>
      new Date(Date.UTC(2026, 0, 1) + i * DAY).toISOString().slice(0, 10),
    )
    expect(next({ ...OFFICE, blackoutDates: all }, '2026-01-01T00:00:00.000Z')).toBeNull()
    expect(next({ ...OFFICE, sendingDays: [] }, '2026-01-01T00:00:00.000Z')).toBeNull()
  })

  it('after a day is on a later one', () => {
    expect(getFirstSlotAfterDay(OFFICE, '2026-06-05')?.toISOString()).toBe('2026-06-08T07:00:00.000Z')
    expect(getFirstSlotAfterDay({ ...OPEN_PACE, timezone: 'Pacific/Apia' }, '2011-12-29')?.toISOString()).toBe(
      '2011-12-30T10:00:00.000Z',
    )
  })
})

/** An instant at which the clocks of a zone jump within a year, if they do; found with Intl. */
function findJump(zone: string, year: number): number | null {
  const offset = (at: number) => {
    const { date, minute } = wallAt(zone, at)
    return Date.parse(`${date}T00:00:00Z`) / MINUTE + minute - Math.floor(at / MINUTE)
  }
  for (let at = Date.UTC(year, 0, 1); at < Date.UTC(year + 1, 0, 1); at += 30 * DAY) {
    let [low, high] = [at, at + 30 * DAY]
    if (offset(low) === offset(high)) continue
    while (high - low > MINUTE) {
      const middle = low + Math.floor((high - low) / 2 / MINUTE) * MINUTE
      if (offset(middle) === offset(low)) low = middle
      else high = middle
    }
    return high
  }
  return null
}

describe('in every timezone there is', () => {
  it('the next slot is open, not too early, and nothing before it is', { timeout: 60_000 }, () => {
    const weekdays = fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 3, maxLength: 7 })
    const window = fc.tuple(fc.integer({ min: 0, max: 95 }), fc.integer({ min: 1, max: 96 })).filter(([a, b]) => a < b)
    const run = fc.record({
      weekdays,
      window,
      year: fc.integer({ min: 1995, max: 2037 }),
      minutes: fc.integer({ min: -1_500, max: 300 }),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    for (const zone of ZONES)
      fc.assert(
        fc.property(run, ({ weekdays, window: [start, end], year, minutes, part }) => {
          const pace = {
            ...OPEN_PACE,
            timezone: zone,
            sendingDays: weekdays,
            startMinute: start * 15,
            endMinute: end * 15,
          }
          const near = findJump(zone, year) ?? Date.UTC(year, 0, 1) + Math.floor(part * 365 * 1_440) * MINUTE
          const from = near + minutes * MINUTE
          const slot = getNextSendingSlot(pace, new Date(from))!.getTime()
          const open = (at: number) => isOpen(pace, at)
          if (slot < from) throw new Error('too early')
          if (!open(slot) || !isWithinSendingWindow(pace, new Date(slot))) throw new Error('the slot is not open')
          if (localDayOf(pace, new Date(slot)) !== wallAt(zone, slot).date) throw new Error('another day')
          const steps = Math.min(40, (slot - from) / MINUTE)
          for (let i = 0; i < steps; i++) {
            const at = i === 0 ? slot - MINUTE : from + Math.floor(((slot - from) / MINUTE) * (i / steps)) * MINUTE
            if (at >= from && open(at)) throw new Error(`open before, at ${new Date(at).toISOString()}`)
            if (at >= from && isWithinSendingWindow(pace, new Date(at))) throw new Error('called open before its slot')
          }
        }),
        { numRuns: 3 },
      )
  })
})

describe('the quota', () => {
  const RAMP = { ...OPEN_PACE, dailyQuota: 50, rampUpEnabled: true, rampUpStart: 10, rampUpStep: 15 }

  it('grows from the first day by its step, until it is the quota', () => {
    expect([1, 2, 3, 4, 5, 1_000].map((day) => calculateRampUpQuota(RAMP, day))).toEqual([10, 25, 40, 50, 50, 50])
    expect([0, -5].map((day) => calculateRampUpQuota(RAMP, day))).toEqual([10, 10])
  })

  it('is the whole of it without ramp-up, and none without a quota', () => {
    expect(calculateRampUpQuota({ ...RAMP, rampUpEnabled: false }, 1)).toBe(50)
    expect(calculateRampUpQuota(OPEN_PACE, 1)).toBeNull()
    expect(calculateRampUpQuota({ ...RAMP, dailyQuota: 5 }, 1)).toBe(5)
  })

  it('counts days of the calendar, over leap days and changes of the clocks', () => {
    expect(quotaOn(RAMP, '2028-02-28', '2028-03-01')).toBe(40)
    expect(quotaOn(RAMP, '2026-03-28', '2026-03-30')).toBe(40)
    expect(quotaOn(RAMP, '2026-03-28', '2026-03-01')).toBe(10)
    expect(quotaOn(RAMP, null, '2026-03-01')).toBe(10)
  })
})

describe('a pace as people write it', () => {
  it('has hours and minutes, and is written back as it came', () => {
    const { pace } = readPace({ startHour: '9:30', endHour: 24, sendingDays: [7, 1, 7] })
    expect(pace).toMatchObject({ startMinute: 570, endMinute: 1_440, sendingDays: [1, 7] })
    expect([0, 570, 1_020, 1_440].map(showHour)).toEqual([0, '09:30', 17, 24])
    expect(checkPace(pace!)).toEqual([])
  })

  it('says everything that is wrong with it at once', () => {
    const { problems } = readPace({
      timezone: 'Nowhere',
      sendingDays: [],
      startHour: 10,
      endHour: 9,
      gapMinSeconds: -1,
    })
    expect(problems!.map(({ path }) => path.join('.'))).toEqual(['timezone', 'sendingDays', 'endHour', 'gapMinSeconds'])
  })

  it.each(['Europe/Paris', 'UTC', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])('knows %s', (timezone) => {
    expect(readPace({ timezone }).problems).toBeUndefined()
  })

  it.each(['', '+02:00', 'Paris', '2026-01-01T00:00Z[Europe/Paris]', 'Europe/Paris ', 'null'])(
    'refuses %j',
    (timezone) => {
      expect(readPace({ timezone }).problems).toHaveLength(1)
    },
  )
})
