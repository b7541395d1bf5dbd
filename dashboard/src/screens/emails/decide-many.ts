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
  /** Of chosen ones, those it applies to. */
  readonly emails: readonly Chosen[]
  /** Of chosen ones, how many it does not apply to, by what they are. */
  readonly others: ReadonlyMap<EmailStatus, number>
}

export interface Outcome {
  readonly changed: number
  /** Those that had become something else meanwhile, with what they are now; at most the first hundred. */
  readonly refused: readonly { readonly id: string; readonly detail: string }[]
  readonly refusedCount: number
  readonly hasMore: boolean
}

type Selection =
  | { readonly ids: string[]; readonly dry_run?: boolean }
  | { readonly filter: EmailFilter; readonly dry_run?: boolean; readonly expected?: number }

/** As many as one request may name. */
const MOST_IDS = 1_000
/** For counting what is to be rescheduled, whenever that will be. */
const ANY_TIME = '2100-01-01T00:00:00Z'

export async function countTarget(target: Target, decision: Decision): Promise<Tally> {
  if (target.kind === 'matching') {
    const { matched, has_more: hasMore } = await decide(decision, { filter: target.filter, dry_run: true }, ANY_TIME)
    return { count: matched, hasMore, emails: [], others: new Map() }
  }
  const allows = ({ status, deliveries }: Chosen) =>
    (deliveries ?? [{ status }]).some((one) => DECISIONS[decision].from.includes(one.status))
  const emails = target.emails.filter(allows)
  const others = new Map<EmailStatus, number>()
  for (const email of target.emails) if (!allows(email)) others.set(email.status, (others.get(email.status) ?? 0) + 1)
  return { count: emails.length, hasMore: false, emails, others }
}

/** Does it. What was counted is what somebody agreed to: if more or fewer match by now, nothing is changed. */
export async function decideTarget(
  target: Target,
  { emails, count }: Tally,
  decision: Decision,
  at: string | null,
  onProgress: (done: number) => void,
): Promise<Outcome> {
  if (target.kind === 'matching')
    return toOutcome(await decide(decision, { filter: target.filter, expected: count }, at ?? ''))
  if (emails.length === 1) return decideAlone(emails[0]!.id, decision, at)
  let total: Outcome = { changed: 0, refused: [], refusedCount: 0, hasMore: false }
  for (let from = 0; from < emails.length; from += MOST_IDS) {
    const ids = emails.slice(from, from + MOST_IDS).map(({ id }) => id)
    const { changed, refused, refusedCount } = toOutcome(await decide(decision, { ids }, at ?? ''))
    total = {
      changed: total.changed + changed,
      refused: [...total.refused, ...refused],
      refusedCount: total.refusedCount + refusedCount,
      hasMore: false,
    }
    onProgress(total.changed + total.refusedCount)
  }
  return total
}

async function decideAlone(id: string, decision: Decision, at: string | null): Promise<Outcome> {
  try {
    await decideOne(id, decision, at)
    return { changed: 1, refused: [], refusedCount: 0, hasMore: false }
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.status !== 409) throw error
    return { changed: 0, refused: [{ id, detail: error.problem.detail }], refusedCount: 1, hasMore: false }
  }
}

const toOutcome = ({
  changed,
  refused,
  refused_count: refusedCount,
  has_more: hasMore,
}: Shape<'MassDecision'>): Outcome => ({
  changed,
  refused,
  refusedCount,
  hasMore,
})

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
