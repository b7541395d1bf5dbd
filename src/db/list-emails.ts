import { EMAIL_STATUSES, type EmailStatus, statesOf } from '../domain/email-status.js'
import type { Sql } from './client.js'
import {
  CAMPAIGN_EMAILS,
  CAMPAIGN_SUMMARY,
  deliveriesOf,
  type EmailSummary,
  SUMMARY,
  type SummaryRow,
  toSummary,
} from './emails.js'

/**
 * Lists emails, those with a message and those of campaigns, newest first. Each kind is read in the order of its own
 * index as far as the page goes, and the two pages are merged: neither is ever read whole.
 */
export interface EmailFilter {
  /** One, or any of several. */
  readonly status?: EmailStatus | readonly EmailStatus[]
  readonly campaignId?: string
  /** Folded. */
  readonly to?: string
  /** Part of the subject or of an address. */
  readonly q?: string
}

export interface Cursor {
  /** Older than this one. */
  readonly after?: string
  /** Newer than this one. */
  readonly before?: string
  readonly limit: number
}

/** Newest first, whichever way one pages. */
export async function listEmails(
  sql: Sql,
  workspaceId: string,
  filter: EmailFilter,
  { after, before, limit }: Cursor,
): Promise<EmailSummary[]> {
  const values: unknown[] = [workspaceId]
  const bind = (value: unknown) => `$${values.push(value)}`
  const backwards = before !== undefined && after === undefined
  const order = backwards ? 'asc' : 'desc'
  const page = (id: string) => [
    ...(after === undefined ? [] : [`${id} < ${bind(after)}::uuid`]),
    ...(before === undefined ? [] : [`${id} > ${bind(before)}::uuid`]),
  ]
  const most = bind(limit)
  const single = () => `
    select ${SUMMARY} from postrider.messages message
      cross join lateral (${deliveriesOf('action.message_id = message.id')}) related
    where ${['message.workspace_id = $1', ...singleConditions(filter, bind), ...page('message.id')].join(' and ')}
    order by message.id ${order} limit ${most}`
  const ofCampaigns = () => `
    select ${CAMPAIGN_SUMMARY} from ${CAMPAIGN_EMAILS}
    where ${[
      'action.workspace_id = $1 and action.contact_id is not null',
      ...campaignConditions(filter, bind),
      ...page('action.id'),
    ].join(' and ')}
    order by action.id ${order} limit ${most}`
  const kinds = filter.campaignId === undefined ? [single(), ofCampaigns()] : [ofCampaigns()]
  const { rows } = await sql.query<SummaryRow>(
    `select * from (${kinds.map((kind) => `(${kind})`).join(' union all ')}) emails order by id ${order} limit ${most}`,
    values,
  )
  return (backwards ? rows.toReversed() : rows).map(toSummary)
}

const MESSAGES = `select message_id from postrider.scheduled_actions where workspace_id = $1 and message_id is not null`
const PENDING = `${MESSAGES} and wake_at is not null
  union ${MESSAGES} and id in (select unnest(action_ids) from postrider.ready_actions)`

/** Where to look for the emails of a status without reading what is over. */
const UNFINISHED = {
  scheduled: PENDING,
  retry_scheduled: PENDING,
  sending: `${MESSAGES} and id in (select unnest(action_ids) from postrider.leases)`,
  uncertain: `${MESSAGES} and needs_attention`,
  failed: `${MESSAGES} and needs_attention`,
} as const satisfies Partial<Record<EmailStatus, string>>
type Unfinished = keyof typeof UNFINISHED

// The place of the shown status in the list of statuses: the least finished delivery has the lowest.
const RANK = `case ${EMAIL_STATUSES.map(
  (status, i) =>
    `when state in (${statesOf(status)
      .map((state) => `'${state}'`)
      .join(', ')}) ${status === 'scheduled' ? 'and reason_code is null ' : ''}then ${i}`,
).join(' ')} end`

/** `rank` is the place of an email's status, `id` its id. */
function statusConditions({ status }: EmailFilter, rank: string, id: string): string[] {
  const statuses = status === undefined ? [] : typeof status === 'string' ? [status] : status
  if (statuses.length === 0) return []
  const where = [`${rank} in (${statuses.map((wanted) => EMAIL_STATUSES.indexOf(wanted)).join(', ')})`]
  // What is not over, and what waits for a person, is indexed: the history need not be read for it.
  if (statuses.every((wanted) => wanted in UNFINISHED))
    where.push(`${id} in (${[...new Set(statuses.map((wanted) => UNFINISHED[wanted as Unfinished]))].join(' union ')})`)
  return where
}

const patternOf = (q: string) => `%${q.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`

function singleConditions(filter: EmailFilter, bind: (value: unknown) => string): string[] {
  const { to, q } = filter
  const rank = `(select min(${RANK}) from postrider.scheduled_actions where message_id = message.id)`
  const where = statusConditions(filter, rank, 'message.id')
  if (to !== undefined) where.push(`recipients @> array[${bind(to)}]::text[]`)
  if (q !== undefined) {
    const pattern = bind(patternOf(q))
    where.push(`(subject ilike ${pattern} or array_to_string(recipients, ' ') ilike ${pattern})`)
  }
  return where
}

function campaignConditions(filter: EmailFilter, bind: (value: unknown) => string): string[] {
  const { campaignId, to, q } = filter
  const where = statusConditions(filter, `(${RANK})`, 'action.id')
  if (campaignId !== undefined) where.push(`action.lane_id = ${bind(campaignId)}::uuid`)
  if (to !== undefined)
    where.push(`action.contact_id = (select id from postrider.contacts
      where workspace_id = $1 and folded_address = ${bind(to)})`)
  if (q !== undefined) {
    const pattern = bind(patternOf(q))
    where.push(`(subject ilike ${pattern} or payload ->> 'recipient' ilike ${pattern})`)
  }
  return where
}
