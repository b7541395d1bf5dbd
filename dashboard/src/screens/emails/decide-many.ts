import { api, ask } from '../../api/client'
import { ProblemError } from '../../api/problem'
import type { Shape } from '../../api/types'
import { decideOne } from './decide-one'
import { type Decision, DECISIONS } from './decisions'
import type { EmailFilter, EmailStatus } from './email-filter'

export interface Chosen {
  readonly id: string
  readonly subject: string
  readonly status: EmailStatus
  /** Of its recipients, when they are known: any of them may allow what the others do not. */
  readonly deliveries?: readonly { readonly status: EmailStatus }[]
}

/** Which emails: those somebody chose, or all that match, seen or not. */
export type Target =
  | { readonly kind: 'chosen'; readonly emails: readonly Chosen[] }
  | { readonly kind: 'matching'; readonly filter: EmailFilter }

/** To how many of them a decision applies, before it is made. */
export interface Tally {
  readonly count: number
  /** There are more; these are as many as are changed at a time. */
  readonly hasMore: boolean
  /** Those it applies to, by name: what somebody agrees to, and nothing else, is changed. */
  readonly ids: readonly string[]
  /** Of chosen ones, how many it does not apply to, by what they are. */
  readonly others: ReadonlyMap<EmailStatus, number>
}

export interface Outcome {
  readonly changed: number
  /** Those that had become something else meanwhile, with what they are now; at most the first hundred. */
  readonly refused: readonly { readonly id: string; readonly detail: string }[]
  readonly refusedCount: number
  /** Those that nobody came to, because it was stopped. */
  readonly left: number
  readonly hasMore: boolean
  /** What stopped it, if nobody did. */
  readonly error: unknown
}

/** How far counting has come: everything newer than this was looked at. */
export interface Counting {
  readonly found: number
  readonly searchedUntil: string | null
}

type Selection =
  | { readonly ids: string[]; readonly in_all?: number; readonly deed?: string }
  | { readonly filter: EmailFilter; readonly dry_run: true; readonly within_ms: number; readonly after?: string }

/** Each request is over soon, so that it can be seen how far it is, and stopped. */
const COUNTED_WITHIN_MS = 60
const DECIDED_TOGETHER = 250
/** As many as are changed at a time: minutes of work. */
const MOST = 100_000
const SHOWN_REFUSALS = 100
/** For counting what is to be rescheduled, whenever that will be. */
const ANY_TIME = '2100-01-01T00:00:00Z'

export async function countTarget(
  target: Target,
  decision: Decision,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (counting: Counting) => void },
): Promise<Tally> {
  if (target.kind === 'matching') {
    const ids: string[] = []
    for (let after: string | null | undefined; after !== null;) {
      signal.throwIfAborted()
      const asked = {
        filter: target.filter,
        dry_run: true,
        within_ms: COUNTED_WITHIN_MS,
        ...(after && { after }),
      } as const
      const page = await decide(decision, asked, ANY_TIME)
      ids.push(...(page.ids ?? []))
      if (ids.length > MOST) return { count: MOST, hasMore: true, ids: ids.slice(0, MOST), others: new Map() }
      onProgress({ found: ids.length, searchedUntil: page.searched_until ?? null })
      after = page.next ?? null
    }
    return { count: ids.length, hasMore: false, ids, others: new Map() }
  }
  const allows = ({ status, deliveries }: Chosen) =>
    (deliveries ?? [{ status }]).some((one) => DECISIONS[decision].from.includes(one.status))
  const ids = target.emails.filter(allows).map(({ id }) => id)
  const others = new Map<EmailStatus, number>()
  for (const email of target.emails) if (!allows(email)) others.set(email.status, (others.get(email.status) ?? 0) + 1)
  return { count: ids.length, hasMore: false, ids, others }
}

/**
 * Does it, to exactly those that were counted: what matches since then is left alone, and so is what has become something
 * else. A page at a time, which is one deed to the audit log; what was done when it is stopped stays done.
 */
export async function decideTarget(
  { ids, hasMore }: Tally,
  decision: Decision,
  at: string | null,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (done: number) => void },
): Promise<Outcome> {
  if (ids.length === 1) return decideAlone(ids[0]!, decision, at)
  let total: Outcome = { changed: 0, refused: [], refusedCount: 0, left: ids.length, hasMore, error: null }
  let deed: string | undefined
  for (let from = 0; from < ids.length && !signal.aborted; from += DECIDED_TOGETHER) {
    const page = ids.slice(from, from + DECIDED_TOGETHER)
    try {
      const done = await decide(decision, { ids: page, in_all: ids.length, ...(deed && { deed }) }, at ?? '')
      deed = done.deed
      total = {
        ...total,
        changed: total.changed + done.changed,
        refused: [...total.refused, ...done.refused].slice(0, SHOWN_REFUSALS),
        refusedCount: total.refusedCount + done.refused_count,
        left: total.left - page.length,
      }
    } catch (error) {
      // Of this page nobody knows; of those before it there is something to tell.
      if (from === 0) throw error
      return { ...total, error }
    }
    onProgress(ids.length - total.left)
  }
  return total
}

async function decideAlone(id: string, decision: Decision, at: string | null): Promise<Outcome> {
  const nothing = { changed: 0, refused: [], refusedCount: 0, left: 0, hasMore: false, error: null }
  try {
    await decideOne(id, decision, at)
    return { ...nothing, changed: 1 }
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.status !== 409) throw error
    return { ...nothing, refused: [{ id, detail: error.problem.detail }], refusedCount: 1 }
  }
}

function decide(decision: Decision, selection: Selection, at: string): Promise<Shape<'MassDecision'>> {
  switch (decision) {
    case 'retry':
      return ask(api.POST('/api/admin/outbox/retry', { body: selection }))
    case 'dismiss':
      return ask(api.POST('/api/admin/outbox/dismiss', { body: selection }))
    case 'cancel':
      return ask(api.POST('/api/admin/outbox/cancel', { body: selection }))
    case 'reschedule':
      return ask(api.POST('/api/admin/outbox/reschedule', { body: { ...selection, scheduled_at: at } }))
    case 'sent':
    case 'resend':
      return ask(api.POST('/api/admin/outbox/resolve', { body: { ...selection, outcome: decision } }))
  }
}
