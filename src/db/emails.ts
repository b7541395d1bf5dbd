import type { Attempt } from '../domain/attempt.js'
import { EMAIL_STATUSES, type EmailStatus, leastFinished, statesOf, statusOf } from '../domain/email-status.js'
import type { Calendar, Mailbox, Message, OnUncertain } from '../domain/message.js'
import type { ActionState } from '../domain/states.js'
import { isId } from '../id.js'
import type { Sql } from './client.js'

/** Emails as people see them: a message with its deliveries, and what became of each. */
export interface EmailSummary extends Pick<
  Message,
  'id' | 'messageId' | 'from' | 'to' | 'cc' | 'bcc' | 'replyTo' | 'subject'
> {
  readonly status: EmailStatus
  readonly tags: readonly { readonly name: string; readonly value: string }[]
  readonly createdAt: Date
  readonly scheduledAt: Date | null
  readonly expiresAt: Date | null
  readonly deliveries: readonly DeliveryState[]
}

export interface DeliveryState {
  readonly actionId: string
  readonly recipient: string
  readonly status: EmailStatus
  readonly state: ActionState
  readonly attempts: number
  /** When it is or was due. */
  readonly runAt: Date
  readonly stateAt: Date
  readonly retryPolicy: string | null
  readonly reason: string | null
  readonly reasonCode: string | null
  /** It was sent again although an earlier hand-over may have been taken. */
  readonly inDoubt: boolean
  /** Its lane: paused by a person, or held back until then. */
  readonly lanePaused: boolean
  readonly laneHeldUntil: Date | null
}

export interface Email extends EmailSummary, Pick<Message, 'date' | 'html' | 'text' | 'headers' | 'calendar'> {
  readonly senderId: string
  readonly inline: boolean
  readonly onUncertain: OnUncertain
  readonly attachments: readonly {
    readonly filename: string
    readonly contentType: string
    readonly contentId: string | null
    readonly size: number
  }[]
  readonly attempts: readonly RecordedAttempt[]
  readonly events: readonly EmailEvent[]
  /** The database's own, for saying what comes next. */
  readonly now: Date
}

export interface RecordedAttempt extends Attempt {
  readonly actionId: string
  readonly at: Date
}

export interface EmailEvent {
  readonly id: string
  readonly type: string
  readonly payload: unknown
  readonly at: Date
}

const SUMMARY = `message.id, message.message_id, addressing, subject, tags, message.created_at, scheduled_at, message.expires_at, deliveries`

const deliveriesOf = (where: string) => `
  select json_agg(json_build_object('id', action.id, 'recipient', payload ->> 'recipient', 'state', state,
      'attempts', attempts, 'run_at', run_at, 'state_at', state_at, 'retry_policy', retry_policy, 'reason', reason,
      'reason_code', reason_code, 'in_doubt', in_doubt, 'paused', lanes.paused_at is not null, 'held_until', held_until) order by action.id)
    as deliveries
  from postrider.scheduled_actions action left join postrider.lanes on lanes.id = action.lane_id
  where ${where}`

// The place of the shown status in the list of statuses: the least finished delivery has the lowest.
const RANK = `case ${EMAIL_STATUSES.map(
  (status, i) =>
    `when state in (${statesOf(status)
      .map((state) => `'${state}'`)
      .join(', ')}) ${status === 'scheduled' ? 'and reason_code is null ' : ''}then ${i}`,
).join(' ')} end`

interface SummaryRow {
  id: string
  message_id: string
  addressing: { from: Mailbox; to: Mailbox[]; cc: Mailbox[]; bcc: Mailbox[]; reply_to: Mailbox[] }
  subject: string
  tags: { name: string; value: string }[]
  created_at: Date
  scheduled_at: Date | null
  expires_at: Date | null
  deliveries: DeliveryRow[] | null
}

interface DeliveryRow {
  id: string
  recipient: string
  state: ActionState
  attempts: number
  run_at: string
  state_at: string
  retry_policy: string | null
  reason: string | null
  reason_code: string | null
  in_doubt: boolean
  paused: boolean
  held_until: string | null
}

function toSummary(row: SummaryRow): EmailSummary {
  const deliveries = (row.deliveries ?? []).map(toDelivery)
  return {
    id: row.id,
    messageId: row.message_id,
    status: leastFinished(deliveries.map(({ status }) => status)),
    from: row.addressing.from,
    to: row.addressing.to,
    cc: row.addressing.cc,
    bcc: row.addressing.bcc,
    replyTo: row.addressing.reply_to,
    subject: row.subject,
    tags: row.tags,
    createdAt: row.created_at,
    scheduledAt: row.scheduled_at,
    expiresAt: row.expires_at,
    deliveries,
  }
}

const toDelivery = (row: DeliveryRow): DeliveryState => ({
  actionId: row.id,
  recipient: row.recipient,
  status: statusOf(row.state, row.reason_code),
  state: row.state,
  attempts: row.attempts,
  runAt: new Date(row.run_at),
  stateAt: new Date(row.state_at),
  retryPolicy: row.retry_policy,
  reason: row.reason,
  reasonCode: row.reason_code,
  inDoubt: row.in_doubt,
  lanePaused: row.paused,
  laneHeldUntil: row.held_until === null ? null : new Date(row.held_until),
})

export interface EmailFilter {
  /** One, or any of several. */
  readonly status?: EmailStatus | readonly EmailStatus[]
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
  const where = ['message.workspace_id = $1', ...conditions(filter, bind)]
  if (after !== undefined) where.push(`message.id < ${bind(after)}::uuid`)
  if (before !== undefined) where.push(`message.id > ${bind(before)}::uuid`)
  const backwards = before !== undefined && after === undefined
  const { rows } = await sql.query<SummaryRow>(
    `select ${SUMMARY} from postrider.messages message
       cross join lateral (${deliveriesOf('action.message_id = message.id')}) related
     where ${where.join(' and ')} order by message.id ${backwards ? 'asc' : 'desc'} limit ${bind(limit)}`,
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

function conditions({ status, to, q }: EmailFilter, bind: (value: unknown) => string): string[] {
  const where: string[] = []
  const statuses = status === undefined ? [] : typeof status === 'string' ? [status] : status
  if (statuses.length > 0) {
    const ranks = statuses.map((wanted) => EMAIL_STATUSES.indexOf(wanted)).join(', ')
    where.push(`(select min(${RANK}) from postrider.scheduled_actions where message_id = message.id) in (${ranks})`)
    // What is not over, and what waits for a person, is indexed: the history need not be read for it.
    if (statuses.every((wanted) => wanted in UNFINISHED))
      where.push(
        `message.id in (${[...new Set(statuses.map((wanted) => UNFINISHED[wanted as Unfinished]))].join(' union ')})`,
      )
  }
  if (to !== undefined) where.push(`recipients @> array[${bind(to)}]::text[]`)
  if (q !== undefined) {
    const pattern = bind(`%${q.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`)
    where.push(`(subject ilike ${pattern} or array_to_string(recipients, ' ') ilike ${pattern})`)
  }
  return where
}

export async function findEmail(sql: Sql, workspaceId: string, id: string): Promise<Email | null> {
  if (!isId(id)) return null
  const { rows } = await sql.query<
    SummaryRow & {
      date: Date
      sender_id: string
      html: string | null
      text: string | null
      headers: Record<string, string>
      calendar: Calendar | null
      inline: boolean
      on_uncertain: OnUncertain
      now: Date
    }
  >(
    `select ${SUMMARY}, date, sender_id, html, text, headers, calendar, inline,
       message.on_uncertain, ${sql.now} as now
     from postrider.messages message cross join lateral (${deliveriesOf('action.message_id = message.id')}) related
     where message.workspace_id = $1 and message.id = $2`,
    [workspaceId, id],
  )
  const row = rows[0]
  if (!row) return null
  const summary = toSummary(row)
  const actionIds = summary.deliveries.map(({ actionId }) => actionId)
  const [attempts, attachments, events] = await Promise.all([
    sql.query<RecordedAttempt>(
      `select action_id as "actionId", id, at, outcome, failure, phase, code, enhanced_code as "enhancedCode", reply,
         remote_host as "remoteHost", duration_ms as "durationMs", worker, inline
       from postrider.attempts where action_id = any ($1::uuid[]) order by at, id`,
      [actionIds],
    ),
    sql.query<Email['attachments'][number]>(
      `select filename, content_type as "contentType", content_id as "contentId", length(content) as size
       from postrider.attachments where message_id = $1 order by position`,
      [id],
    ),
    sql.query<EmailEvent>(`select id, type, payload, at from postrider.events where email_id = $1 order by id`, [id]),
  ])
  return {
    ...summary,
    date: row.date,
    senderId: row.sender_id,
    html: row.html,
    text: row.text,
    headers: row.headers,
    calendar: row.calendar,
    inline: row.inline,
    onUncertain: row.on_uncertain,
    attachments: attachments.rows,
    attempts: attempts.rows,
    events: events.rows,
    now: row.now,
  }
}

export interface EmailCounts {
  readonly pending: number
  readonly failed: number
  readonly uncertain: number
  readonly sending: number
  readonly dueNow: number
  readonly nextHour: number
}

/** What a dashboard shows first. Costs what is waiting and what needs attention, not the size of the history. */
export async function countEmails(sql: Sql, workspaceId: string): Promise<EmailCounts> {
  const { rows } = await sql.query<EmailCounts>(
    `with ready as materialized (
       select action.id from postrider.ready_actions hint cross join lateral unnest(action_ids) as named (id)
         join postrider.scheduled_actions action on action.id = named.id
       where workspace_id = $1 and type = 'send' and state = 'pending'
     ), waiting as materialized (
       select wake_at from postrider.scheduled_actions
       where wake_at is not null and workspace_id = $1 and type = 'send'
     ), held as materialized (
       select action.id from postrider.leases cross join lateral unnest(action_ids) as named (id)
         join postrider.scheduled_actions action on action.id = named.id
       where workspace_id = $1 and type = 'send' and state in ('leased', 'armed')
     ), attention as materialized (
       select state, count(*)::int as count from postrider.scheduled_actions
       where workspace_id = $1 and needs_attention and type = 'send' group by state
     )
     select (select count(*)::int from ready) + (select count(*)::int from waiting) as pending,
       coalesce((select count from attention where state = 'failed'), 0) as failed,
       coalesce((select count from attention where state = 'uncertain'), 0) as uncertain,
       (select count(*)::int from held) as sending,
       (select count(*)::int from ready) + (select count(*)::int from waiting where wake_at <= ${sql.now}) as "dueNow",
       (select count(*)::int from waiting where wake_at between ${sql.now} and ${sql.now} + interval '1 hour') as "nextHour"`,
    [workspaceId],
  )
  return rows[0]!
}
