import { DECIDABLE, type EmailDecision } from '../db/decide-emails.js'
import type { EmailFilter } from '../db/email-filter.js'
import { readDeliveryStatuses } from '../db/email-statuses.js'
import { findEmails } from '../db/find-emails.js'
import { type EmailStatus, leastFinished } from '../domain/email-status.js'
import { PostriderError } from '../errors.js'
import type { Context } from './context.js'
import { type Decision, decideAndReopen, describeConflict } from './decide-email.js'

/**
 * What a person decides about many emails: those named, or all that match.
 *
 * Which ones is settled first, as ids; then they are decided a page at a time, each page with a commit of its own. One
 * that has become something else in between is refused, not overwritten: the statement that changes an email asks its
 * state. A crash leaves the pages that were done, and doing it again decides the rest.
 */
export type Selection = { readonly ids: readonly string[] } | { readonly filter: EmailFilter }

export interface MassDecision {
  /** Those it applied to when they were looked for; of named ones, all. */
  readonly matched: number
  readonly changed: number
  /** The first of them. */
  readonly refused: readonly Refusal[]
  readonly refusedCount: number
  /** There are more that match: what was taken on were the newest. */
  readonly hasMore: boolean
}

export interface Refusal {
  readonly id: string
  readonly code: 'email_not_found' | 'email_conflict'
  readonly detail: string
}

export interface MassOptions extends Decision {
  /** Changes nothing, and says how many it would be. */
  readonly dryRun?: boolean
  /** How many somebody agreed to: if others match by now, nothing is done. */
  readonly expected?: number
}

/** Of one request: minutes of work. */
const MOST = 100_000
const FOUND_TOGETHER = 5_000
const DECIDED_TOGETHER = 500
const SHOWN_REFUSALS = 100

export async function decideMany(
  context: Context,
  workspaceId: string,
  selection: Selection,
  decision: EmailDecision,
  { dryRun = false, expected, ...options }: MassOptions,
): Promise<MassDecision> {
  const { ids, hasMore } = await select(context, workspaceId, selection, decision)
  if (dryRun)
    return 'ids' in selection
      ? { ...(await foresee(context, workspaceId, ids, decision)), hasMore }
      : // Found by what the decision applies to.
        { matched: ids.length, changed: 0, refused: [], refusedCount: 0, hasMore }
  if (expected !== undefined && expected !== ids.length)
    throw new PostriderError(
      'email_conflict',
      `${ids.length} emails match by now, not ${expected}. Nothing was changed: look at them again.`,
    )
  let changed = 0
  let refusedCount = 0
  const refused: Refusal[] = []
  for (let place = 0; place < ids.length; place += DECIDED_TOGETHER) {
    const page = ids.slice(place, place + DECIDED_TOGETHER)
    const done = new Set(await decideAndReopen(context, workspaceId, page, decision, options))
    changed += done.size
    const others = page.filter((id) => !done.has(id))
    refusedCount += others.length
    if (refused.length < SHOWN_REFUSALS) refused.push(...(await explain(context, workspaceId, others, decision)))
    if (done.size > 0) context.wake()
  }
  context.log.info({ decision, changed, refused: refusedCount, by: options.by }, 'decided for many')
  return { matched: ids.length, changed, refused: refused.slice(0, SHOWN_REFUSALS), refusedCount, hasMore }
}

async function select(
  { db }: Context,
  workspaceId: string,
  selection: Selection,
  decision: EmailDecision,
): Promise<{ readonly ids: readonly string[]; readonly hasMore: boolean }> {
  if ('ids' in selection) return { ids: [...new Set(selection.ids)], hasMore: false }
  const status = decidable(selection.filter, decision)
  if (status.length === 0) return { ids: [], hasMore: false }
  const ids: string[] = []
  let after: string | undefined
  for (;;) {
    const cursor = { limit: FOUND_TOGETHER, ...(after !== undefined && { after }) }
    const found = await findEmails(db, workspaceId, { ...selection.filter, status }, cursor)
    ids.push(...found.ids)
    after = found.searchedUntil ?? (found.ids.length === FOUND_TOGETHER ? found.ids.at(-1) : undefined)
    if (after === undefined) return { ids, hasMore: false }
    if (ids.length >= MOST) return { ids: ids.slice(0, MOST), hasMore: true }
  }
}

/** What the decision applies to, of what was asked for. */
export function decidable({ status }: EmailFilter, decision: EmailDecision): readonly EmailStatus[] {
  const asked = status === undefined ? DECIDABLE[decision] : typeof status === 'string' ? [status] : status
  return asked.filter((one) => DECIDABLE[decision].includes(one))
}

/** Of named emails, some may be what the decision does not apply to. */
async function foresee(
  context: Context,
  workspaceId: string,
  ids: readonly string[],
  decision: EmailDecision,
): Promise<Omit<MassDecision, 'hasMore'>> {
  const refused: Refusal[] = []
  for (let place = 0; place < ids.length; place += DECIDED_TOGETHER)
    refused.push(...(await explain(context, workspaceId, ids.slice(place, place + DECIDED_TOGETHER), decision, true)))
  return {
    matched: ids.length - refused.length,
    changed: 0,
    refused: refused.slice(0, SHOWN_REFUSALS),
    refusedCount: refused.length,
  }
}

/** Why these cannot be decided; `asking`: only those of which it is so. */
async function explain(
  { db }: Context,
  workspaceId: string,
  ids: readonly string[],
  decision: EmailDecision,
  asking = false,
): Promise<Refusal[]> {
  if (ids.length === 0) return []
  const known = await readDeliveryStatuses(db, workspaceId, ids)
  return ids.flatMap((id): Refusal[] => {
    const statuses = known.get(id)
    if (!statuses) return [{ id, code: 'email_not_found', detail: 'There is no such email.' }]
    // Of several recipients, those that allow it are decided.
    if (asking && statuses.some((status) => DECIDABLE[decision].includes(status))) return []
    return [{ id, code: 'email_conflict', detail: describeConflict(id, leastFinished(statuses), decision) }]
  })
}

/** The same for all that match, however many; returns how many were changed. */
export async function decideMatchingEmails(
  context: Context,
  workspaceId: string,
  filter: EmailFilter,
  decision: 'retry' | 'dismiss',
  options: Decision,
): Promise<number> {
  let changed = 0
  for (;;) {
    const done = await decideMany(context, workspaceId, { filter }, decision, options)
    changed += done.changed
    if (!done.hasMore) return changed
  }
}
