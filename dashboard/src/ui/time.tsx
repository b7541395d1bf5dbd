import { useSyncExternalStore } from 'react'

/** Times are shown in a zone that is always named: the viewer's own, UTC, or that of what is looked at. */
const VIEWER_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone
const KEY = 'postrider.zone'
let zone = localStorage.getItem(KEY) ?? VIEWER_ZONE
const listeners = new Set<() => void>()

export function setZone(chosen: string): void {
  zone = chosen
  localStorage.setItem(KEY, chosen)
  for (const listener of listeners) listener()
}

export const ZONES: readonly string[] = [...new Set([VIEWER_ZONE, 'UTC'])]

export const useZone = (): string =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => zone,
  )

const formats = new Map<string, Intl.DateTimeFormat>()
function formatOf(timeZone: string, kind: 'full' | 'short' | 'with year'): Intl.DateTimeFormat {
  const key = `${timeZone} ${kind}`
  const known = formats.get(key)
  if (known) return known
  const day = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hour12: false } as const
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    ...day,
    ...(kind === 'full' && { year: 'numeric', second: '2-digit', weekday: 'short' }),
    ...(kind === 'with year' && { year: 'numeric' }),
  })
  formats.set(key, made)
  return made
}

const HALF_A_YEAR_MS = 183 * 86_400_000

/** Short leaves the year out as long as nobody could mean another. */
export function formatTime(at: string | Date, timeZone: string, kind: 'full' | 'short' = 'full'): string {
  const instant = new Date(at)
  const isFar = Math.abs(instant.getTime() - Date.now()) > HALF_A_YEAR_MS
  return formatOf(timeZone, kind === 'short' && isFar ? 'with year' : kind).format(instant)
}

/** An instant, with the whole of it and its zone on hover and for screen readers. */
export function Time({
  at,
  zone: fixed,
  empty = '—',
}: {
  readonly at: string | null | undefined
  readonly zone?: string
  readonly empty?: string
}) {
  const chosen = useZone()
  const timeZone = fixed ?? chosen
  if (at == null) return <span className="text-soft">{empty}</span>
  return (
    <time
      dateTime={at}
      title={`${formatTime(at, timeZone)} ${timeZone} · ${at}`}
      className="whitespace-nowrap tabular-nums"
    >
      {formatTime(at, timeZone, 'short')}
    </time>
  )
}

/** "in 3 min", "2 h ago": for orientation, beside the instant and never instead of it. */
export function describeDistance(at: string | Date, now: number = Date.now()): string {
  const seconds = Math.round((new Date(at).getTime() - now) / 1_000)
  const size = Math.abs(seconds)
  const text = formatDuration(size)
  return size < 1 ? 'now' : seconds > 0 ? `in ${text}` : `${text} ago`
}

export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`
  return `${Math.round(seconds / 86_400)} days`
}

/** Beside lists of times, so that no time is without its zone. */
export function ZoneSwitch({ also = [] }: { readonly also?: readonly string[] }) {
  const chosen = useZone()
  const zones = [...new Set([...ZONES, ...also, chosen])]
  return (
    <label className="inline-flex min-w-0 flex-wrap items-center gap-1.5 text-xs text-soft">
      <span className="whitespace-nowrap max-sm:sr-only">Times in</span>
      <select
        value={chosen}
        onChange={(event) => setZone(event.target.value)}
        className="h-7 max-w-44 min-w-0 rounded-md border bg-panel px-1.5 text-xs text-ink"
      >
        {zones.map((name) => (
          <option key={name} value={name}>
            {name === VIEWER_ZONE ? `${name} (yours)` : name}
          </option>
        ))}
      </select>
    </label>
  )
}
