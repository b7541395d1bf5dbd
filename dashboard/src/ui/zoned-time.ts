/** Between instants and what a clock on the wall of a zone shows, as `2026-11-17T09:30`. */

const formats = new Map<string, Intl.DateTimeFormat>()
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone)
  if (known) return known
  const made = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  })
  formats.set(timeZone, made)
  return made
}

export const toWallTime = (at: string | Date, timeZone: string): string =>
  formatOf(timeZone).format(new Date(at)).replace(' ', 'T')

const DAY_MS = 86_400_000

/** Null for what is no time. Of an hour that comes twice the first; one that is left out is the same time later. */
export function toInstant(wall: string, timeZone: string): string | null {
  const asUtc = Date.parse(`${wall}:00Z`)
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(wall) || Number.isNaN(asUtc)) return null
  // The zone's distance to UTC is that of the day before or of the day after: it changes at most once in between.
  const [early, late] = [asUtc - DAY_MS, asUtc + DAY_MS].map((near) => {
    const distance = Date.parse(`${toWallTime(new Date(near), timeZone)}:00Z`) - Math.floor(near / 60_000) * 60_000
    return asUtc - distance
  })
  const found = [early!, late!].toSorted((a, b) => a - b).find((at) => toWallTime(new Date(at), timeZone) === wall)
  return new Date(found ?? early!).toISOString()
}
