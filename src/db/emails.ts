import type { Json } from '../domain/action.js'
import type { Attempt } from '../domain/attempt.js'
import { type EmailStatus, leastFinished, statusOf } from '../domain/email-status.js'
import type { Calendar, Mailbox, Message, OnUncertain } from '../domain/message.js'
import type { ActionState } from '../domain/states.js'
import { isId } from '../id.js'
import type { Sql } from './client.js'
import { ofMessage } from './of-email.js'

/** Emails as people see them: a message with its deliveries, and what became of each. */
export interface EmailSummary extends Pick<
  Message,
  'id' | 'messageId' | 'from' | 'to' | 'cc' | 'bcc' | 'replyTo' | 'subject'
> {
  readonly status: EmailStatus
  readonly senderId: string
  readonly tags: readonly { readonly name: string; readonly value: string }[]
  readonly createdAt: Date
  readonly scheduledAt: Date | null
  readonly expiresAt: Date | null
  readonly deliveries: readonly DeliveryState[]
  /** The campaign it belongs to. Its subject, and its bodies, are then Liquid until they are rendered for the contact. */
  readonly campaign: {
    readonly id: string
    readonly name: string
    readonly contact: EmailContact
    /** Of a sequence: which of its emails, and whose walk it is part of. */
    readonly step: EmailStep | null
  } | null
}

export interface EmailStep {
  readonly nodeId: string
  readonly stepNumber: number
  readonly enrollmentId: string
  readonly senderId: string
}

export interface EmailContact {
  readonly id: string
  readonly name: string | null
  readonly attributes: { readonly [key: string]: Json }
  readonly timezone: string | null
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

export const SUMMARY = `message.id, message.message_id, message.sender_id, addressing, subject, tags, message.created_at, scheduled_at,
  message.expires_at, deliveries, null::json as campaign`

const DELIVERY = `json_build_object('id', action.id, 'recipient', payload ->> 'recipient', 'state', state,
      'attempts', attempts, 'run_at', run_at, 'state_at', state_at, 'retry_policy', retry_policy, 'reason', reason,
      'reason_code', reason_code, 'in_doubt', in_doubt, 'paused', lanes.paused_at is not null,
      'held_until', greatest(lanes.held_until, holder.held_until))`

const WITH_LANES = `left join postrider.lanes on lanes.id = action.lane_id
    left join postrider.lanes holder on holder.id = lanes.held_with`

export const deliveriesOf = (where: string) => `
  select json_agg(${DELIVERY} order by action.id) as deliveries
  from postrider.scheduled_actions action ${WITH_LANES}
  where ${where}`

/** The same columns of an email of a campaign, which has no message of its own: it is rendered when it goes out. */
export const CAMPAIGN_SUMMARY = `action.id,
  '<' || action.id || '@' || substring(coalesce(own.from_address, campaigns.from_address) from '[^@]*$') || '>' as message_id,
  coalesce(own.sender_id, campaigns.sender_id) as sender_id,
  jsonb_build_object('from', case when own.from_address is null
      then jsonb_build_object('name', campaigns.from_name, 'address', campaigns.from_address)
      else jsonb_build_object('name', own.from_name, 'address', own.from_address) end,
    'to', jsonb_build_array(jsonb_build_object('name', contacts.name, 'address', payload ->> 'recipient')),
    'cc', '[]'::jsonb, 'bcc', '[]'::jsonb, 'reply_to', '[]'::jsonb) as addressing,
  coalesce(step.subject, versions.subject) as subject, '[]'::jsonb as tags, action.created_at, null::timestamptz as scheduled_at, action.expires_at,
  json_build_array(${DELIVERY}) as deliveries,
  json_build_object('id', campaigns.id, 'name', campaigns.name, 'contact', json_build_object('id', contact_id,
    'name', contacts.name, 'attributes', coalesce(contacts.attributes, '{}'), 'timezone', contacts.timezone),
    'step', case when step.node_id is not null then json_build_object('nodeId', step.node_id,
      'stepNumber', step.step_number, 'enrollmentId', action.enrollment_id, 'senderId', own.sender_id) end) as campaign`

export const CAMPAIGN_EMAILS = `postrider.scheduled_actions action
    join postrider.campaigns on campaigns.id = action.lane_id
    left join postrider.campaign_steps step on step.campaign_id = action.lane_id and step.node_id = action.node_id
    join postrider.template_versions versions
      on versions.template_id = coalesce(step.template_id, campaigns.template_id)
      and versions.version = coalesce(step.template_version, campaigns.template_version)
    left join lateral (
      select senders.sender_id, senders.from_name, senders.from_address from postrider.enrollments walk
        join postrider.campaign_senders senders on senders.campaign_id = walk.campaign_id and senders.sender_id = walk.sender_id
      where walk.id = action.enrollment_id) own on true
    left join postrider.contacts on contacts.id = action.contact_id ${WITH_LANES}`

export interface SummaryRow {
  id: string
  message_id: string
  sender_id: string
  addressing: { from: Mailbox; to: Mailbox[]; cc: Mailbox[]; bcc: Mailbox[]; reply_to: Mailbox[] }
  subject: string
  tags: { name: string; value: string }[]
  created_at: Date
  scheduled_at: Date | null
  expires_at: Date | null
  deliveries: DeliveryRow[] | null
  campaign: EmailSummary['campaign']
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

export function toSummary(row: SummaryRow): EmailSummary {
  const deliveries = (row.deliveries ?? []).map(toDelivery)
  return {
    id: row.id,
    messageId: row.message_id,
    status: leastFinished(deliveries.map(({ status }) => status)),
    senderId: row.sender_id,
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
    campaign: row.campaign,
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

export async function findEmail(sql: Sql, workspaceId: string, id: string): Promise<Email | null> {
  if (!isId(id)) return null
  const { rows } = await sql.query<
    SummaryRow & {
      date: Date
      html: string | null
      text: string | null
      headers: Record<string, string>
      calendar: Calendar | null
      inline: boolean
      on_uncertain: OnUncertain
      now: Date
    }
  >(
    `select ${SUMMARY}, date, html, text, headers, calendar, inline,
       message.on_uncertain, ${sql.now} as now
     from postrider.messages message cross join lateral (${deliveriesOf(ofMessage('message.id', { alias: 'action' }))}) related
     where message.workspace_id = $1 and message.id = $2
     union all
     select ${CAMPAIGN_SUMMARY},
       coalesce((payload ->> 'date')::timestamptz, date_trunc('second', action.created_at)), html, text,
       '{}'::jsonb,
       null::jsonb, false, coalesce(action.on_uncertain, 'hold'), ${sql.now}
     from ${CAMPAIGN_EMAILS} where action.workspace_id = $1 and action.id = $2 and action.contact_id is not null`,
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
