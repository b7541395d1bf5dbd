/**
 * What the clocks of a timezone show, asked of Intl alone: another road to the same facts than the one the code takes.
 * Slow and plain on purpose; a window is judged here minute by minute.
 */
export interface Wall {
  readonly date: string
  readonly minute: number
}

const formats = new Map<string, Intl.DateTimeFormat>()

export function wallAt(timezone: string, at: number): Wall {
  let format = formats.get(timezone)
  if (!format)
    formats.set(
      timezone,
      (format = new Intl.DateTimeFormat('en-CA-u-ca-iso8601-nu-latn', {
        timeZone: timezone,
        year: 'numeric',
        month: '2-digit',
        day: '2-digit',
        hour: '2-digit',
        minute: '2-digit',
        hourCycle: 'h23',
      })),
    )
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
  return {
    date: `${part.year!.padStart(4, '0')}-${part.month}-${part.day}`,
    minute: Number(part.hour) * 60 + Number(part.minute),
  }
}

interface Hours {
  readonly timezone: string
  readonly sendingDays: readonly number[]
  readonly startMinute: number
  readonly endMinute: number
  readonly blackoutDates: readonly string[]
}

const MINUTE = 60_000
/** Further than any clock has been put back since 1970. */
const LOOK_BACK = 180 * MINUTE

/**
 * The rule in words: the clocks show a time of the window, on a sending day; and they have not shown the end of that
 * day's window, or anything later, before. Looked back minute by minute.
 */
export function isOpen(hours: Hours, at: number): boolean {
  const { date, minute } = wallAt(hours.timezone, at)
  const weekday = new Date(`${date}T12:00:00Z`).getUTCDay() || 7
  if (!hours.sendingDays.includes(weekday) || hours.blackoutDates.includes(date)) return false
  if (minute < hours.startMinute || minute >= hours.endMinute) return false
  // Where no clock jumped, the window cannot have been closed before.
  const before = wallAt(hours.timezone, at - LOOK_BACK)
  if (minutesOf({ date, minute }) - minutesOf(before) === LOOK_BACK / MINUTE) return true
  for (let earlier = at - MINUTE; earlier > at - LOOK_BACK; earlier -= MINUTE) {
    const seen = wallAt(hours.timezone, earlier)
    if (seen.date > date || (seen.date === date && seen.minute >= hours.endMinute)) return false
  }
  return true
}

const minutesOf = ({ date, minute }: Wall) => Date.parse(`${date}T00:00:00Z`) / MINUTE + minute
