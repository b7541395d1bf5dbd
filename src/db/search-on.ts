/** What one look has found, by ids that sort by the time they were made. */
export interface Found {
  /** Newest first, whichever way one pages. */
  readonly ids: readonly string[]
  /** Nothing beyond this was looked at; null when everything was, or the page is full. */
  readonly searchedUntil: string | null
}

export interface Cursor {
  /** Older than this one. */
  readonly after?: string
  /** Newer than this one. */
  readonly before?: string
  readonly limit: number
}

export const isBackwards = ({ after, before }: Cursor): boolean => before !== undefined && after === undefined

/** How long a search goes on by itself before it answers with how far it has come. */
export const PATIENCE_MS = 60

/** Looks again from where the last look ended, until the page is full, all was looked at, or patience is at its end. */
export async function searchOn(
  cursor: Cursor,
  patienceMs: number,
  look: (rest: Cursor) => Promise<Found>,
): Promise<Found> {
  const started = performance.now()
  const backwards = isBackwards(cursor)
  let ids: readonly string[] = []
  let rest = cursor
  for (;;) {
    const found = await look(rest)
    ids = backwards ? [...found.ids, ...ids] : [...ids, ...found.ids]
    const { searchedUntil } = found
    const left = cursor.limit - ids.length
    if (searchedUntil === null || left === 0) return { ids, searchedUntil: null }
    if (performance.now() - started > patienceMs) return { ids, searchedUntil }
    rest = { ...(backwards ? { before: searchedUntil } : { after: searchedUntil }), limit: left }
  }
}
