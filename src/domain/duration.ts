const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** `30s`, `2m`, `1.5h`, `500ms`, `1d` in milliseconds; null for anything else. A bare number has no unit and is refused. */
export function parseDurationMs(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(text.trim())
  if (!match) return null
  return Math.round(Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS])
}

/** The shortest exact way to write a duration: 90000 is `90s`, 120000 is `2m`. */
export function formatDurationMs(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (ms >= UNIT_MS[unit] && ms % UNIT_MS[unit] === 0) return `${ms / UNIT_MS[unit]}${unit}`
  }
  return `${ms}ms`
}
