import { OPEN_PACE, type Pace } from './pace.js'
import { isTimezone, readIsoDate } from './zone-days.js'

/** A pace as people write it: hours of the day as 9, or as 9:30. What is absent restricts nothing. */
export interface PaceInput extends Partial<Omit<Pace, 'startMinute' | 'endMinute'>> {
  readonly startHour?: number | string
  readonly endHour?: number | string
}

export interface PaceProblem {
  readonly path: readonly (string | number)[]
  readonly detail: string
}

export type ReadPace =
  | { readonly pace: Pace; readonly problems?: never }
  | { readonly pace?: never; readonly problems: readonly PaceProblem[] }

const MOST = 1_000_000_000
const LONGEST_GAP_SECONDS = 86_400
const MOST_BLACKOUT_DATES = 1_000
const WRONG_HOUR = 'must be a whole hour from 0 to 24, or a time such as "09:30"'

export function readPace(input: PaceInput): ReadPace {
  const { startHour, endHour, ...rest } = input
  const start = startHour === undefined ? OPEN_PACE.startMinute : readHour(startHour)
  const end = endHour === undefined ? OPEN_PACE.endMinute : readHour(endHour)
  const pace: Pace = {
    ...OPEN_PACE,
    ...rest,
    sendingDays: unique(rest.sendingDays ?? OPEN_PACE.sendingDays),
    blackoutDates: unique(rest.blackoutDates ?? OPEN_PACE.blackoutDates),
    startMinute: start ?? OPEN_PACE.startMinute,
    endMinute: end ?? OPEN_PACE.endMinute,
  }
  const problems = [
    ...(start === null ? [{ path: ['startHour'], detail: WRONG_HOUR }] : []),
    ...(end === null ? [{ path: ['endHour'], detail: WRONG_HOUR }] : []),
    // The place of a wrong entry is the place where it was written, before they were sorted.
    ...checkPace({ ...pace, sendingDays: rest.sendingDays ?? [1], blackoutDates: rest.blackoutDates ?? [] }),
  ]
  return problems.length > 0 ? { problems } : { pace }
}

/** What is wrong with it, in words; once more at launch, because a timezone can go out of use between two releases. */
export function checkPace(pace: Pace): PaceProblem[] {
  const problems: PaceProblem[] = []
  const say = (wrong: boolean, path: readonly (string | number)[], detail: string) =>
    void (wrong && problems.push({ path, detail }))
  const whole = (name: keyof Pace, least: number, most: number) => {
    const value = pace[name] as number
    say(
      !Number.isInteger(value) || value < least || value > most,
      [name],
      `must be a whole number from ${least} to ${most}`,
    )
  }
  say(!isTimezone(pace.timezone), ['timezone'], 'is not a timezone: write a name such as Europe/Paris')
  say(pace.sendingDays.length === 0, ['sendingDays'], 'must name at least one day, 1 (Monday) to 7 (Sunday)')
  for (const [i, day] of pace.sendingDays.entries())
    say(!Number.isInteger(day) || day < 1 || day > 7, ['sendingDays', i], 'must be 1 (Monday) to 7 (Sunday)')
  say(pace.endMinute <= pace.startMinute, ['endHour'], 'must be later than start_hour, on the same day')
  say(pace.blackoutDates.length > MOST_BLACKOUT_DATES, ['blackoutDates'], `at most ${MOST_BLACKOUT_DATES} dates`)
  for (const [i, date] of pace.blackoutDates.entries())
    say(readIsoDate(date) === null, ['blackoutDates', i], 'must be a date such as 2026-12-25')
  if (pace.dailyQuota !== null) whole('dailyQuota', 1, MOST)
  say(
    pace.rampUpEnabled && pace.dailyQuota === null,
    ['dailyQuota'],
    'is needed with ramp-up: it is what the ramp leads up to',
  )
  whole('rampUpStart', 1, MOST)
  whole('rampUpStep', 1, MOST)
  whole('gapMinSeconds', 0, LONGEST_GAP_SECONDS)
  whole('gapMaxSeconds', 0, LONGEST_GAP_SECONDS)
  say(pace.gapMaxSeconds < pace.gapMinSeconds, ['gapMaxSeconds'], 'must not be less than gap_min_seconds')
  return problems
}

/** Minutes of the day; null for anything else. */
function readHour(hour: number | string): number | null {
  const match = typeof hour === 'number' ? null : /^(\d{1,2}):([0-5]\d)$/.exec(hour)
  if (typeof hour === 'string' && !match) return null
  const minutes = match ? Number(match[1]) * 60 + Number(match[2]) : (hour as number) * 60
  return Number.isInteger(minutes / (match ? 1 : 60)) && minutes >= 0 && minutes <= 1_440 ? minutes : null
}

/** As people write it: 9, or "09:30". */
export function showHour(minute: number): number | string {
  if (minute % 60 === 0) return minute / 60
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
}

const unique = <T extends string | number>(values: readonly T[]): T[] =>
  [...new Set(values)].toSorted((a, b) => (a < b ? -1 : 1))
