/** RFC 3339, and what ISO 8601 writes shorter without a doubt about it: no seconds, an offset without its colon. */
const INSTANT = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?(?:[Zz]|([+-])(\d{2}):?(\d{2}))$/

const NOT_AN_INSTANT = 'must be a date, a time and an offset, such as 2026-11-16T09:00:00Z; words are not read'

/**
 * The instant a text names, or in words why it names none. Taken apart by hand, because `Date` moves what the calendar
 * does not have instead of refusing it: the 30th of February becomes the 2nd of March, and mail goes out on it.
 */
export function parseInstant(text: string): Date | string {
  const match = INSTANT.exec(text)
  if (!match) return NOT_AN_INSTANT
  const numbers = match.map((part) => Number(part ?? 0))
  const [, year, month, day, hour, minute, second] = numbers as [number, number, number, number, number, number, number]
  if (month < 1 || month > 12) return `names a month that does not exist, ${match[2]}`
  const days = daysOf(year, month)
  if (day < 1 || day > days) return `names a day that does not exist: ${match[1]}-${match[2]} has ${days} days`
  if (hour > 23 || minute > 59 || second > 59)
    return 'names a time that does not exist: hours go up to 23, minutes and seconds up to 59'
  const [offsetHours, offsetMinutes] = [numbers[9]!, numbers[10]!]
  if (offsetHours > 23 || offsetMinutes > 59) return 'names an offset that does not exist'
  const offsetMs = (offsetHours * 60 + offsetMinutes) * 60_000 * (match[8] === '-' ? -1 : 1)
  const ms = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3))
  return new Date(midnight(year, month, day) + ((hour * 60 + minute) * 60 + second) * 1_000 + ms - offsetMs)
}

const daysOf = (year: number, month: number) => new Date(midnight(year, month + 1, 0)).getUTCDate()

/** `Date.UTC` takes the years 0 to 99 for those of the last century. */
const midnight = (year: number, month: number, day: number) => new Date(0).setUTCFullYear(year, month - 1, day)
