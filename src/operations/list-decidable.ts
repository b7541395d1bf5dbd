import type { EmailDecision } from '../db/decide-emails.js'
import type { EmailFilter } from '../db/email-filter.js'
import { findEmails } from '../db/find-emails.js'
import type { Context } from './context.js'
import { decidable } from './decide-many.js'

/**
 * Which emails a decision applies to, of those that match: as many as are found within a time, newest first. Whoever
 * agrees to a decision about many of them agrees to these, and then names them.
 */
export interface DecidablePage {
  readonly ids: readonly string[]
  /** Everything newer was looked at; null when everything was. */
  readonly searchedUntil: string | null
}

/** Looked at in one statement, so that it is over soon, whatever is asked for. */
const LOOKED_AT = 1_000
const MOST_IDS = 20_000

export async function listDecidable(
  { db }: Pick<Context, 'db'>,
  workspaceId: string,
  filter: EmailFilter,
  decision: EmailDecision,
  { after, withinMs }: { readonly after?: string | undefined; readonly withinMs: number },
): Promise<DecidablePage> {
  const status = decidable(filter, decision)
  if (status.length === 0) return { ids: [], searchedUntil: null }
  const started = performance.now()
  const ids: string[] = []
  let until = after
  for (;;) {
    const cursor = { limit: LOOKED_AT, ...(until !== undefined && { after: until }) }
    const found = await findEmails(db, workspaceId, { ...filter, status }, cursor, LOOKED_AT)
    ids.push(...found.ids)
    until = found.searchedUntil ?? (found.ids.length === LOOKED_AT ? found.ids.at(-1) : undefined)
    if (until === undefined) return { ids, searchedUntil: null }
    // The next look would take as long as the ones before.
    const looks = (performance.now() - started) / withinMs
    if (looks > 0.6 || ids.length >= MOST_IDS) return { ids, searchedUntil: until }
  }
}
