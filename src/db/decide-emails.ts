import type { EmailStatus } from '../domain/email-status.js'
import type { Json } from '../domain/action.js'
import type { Sql } from './client.js'
import { endUnsent } from './in-doubt.js'
import { ofEmail } from './of-email.js'
import { storable } from './storable.js'

/**
 * What people decide about emails, for any number of them with one statement: each decision moves the deliveries that
 * are in a state that allows it, and leaves the others alone. What was decided is kept as an event of each email, in
 * the same statement.
 */
export const EMAIL_DECISIONS = ['retry', 'dismiss', 'sent', 'resend', 'cancel', 'reschedule'] as const
export type EmailDecision = (typeof EMAIL_DECISIONS)[number]

export const START_OVER = (
  now: string,
) => `state = 'pending', needs_attention = false, lease_token = null, attempts = 0,
    run_at = ${now}, wake_at = ${now}, reason = null, reason_code = null`

const CALLED_OFF = {
  state: 'canceled',
  code: 'canceled',
  said: `'It was called off.'`,
  reason: 'null',
} as const

interface Rule {
  readonly from: readonly string[]
  readonly event: string
  readonly set: (now: string) => string
  /** What would make it pointless, of a delivery. */
  readonly unless?: string
}

const RULES: Readonly<Record<EmailDecision, Rule>> = {
  retry: { from: ['failed'], event: 'retried', set: START_OVER },
  dismiss: { from: ['failed'], event: 'dismissed', set: () => `state = 'dismissed', needs_attention = false` },
  sent: {
    from: ['uncertain'],
    event: 'resolved_as_sent',
    set: () => `state = 'done', needs_attention = false, lease_token = null, reason_code = 'resolved'`,
  },
  resend: {
    from: ['uncertain'],
    event: 'resolved_by_resending',
    set: (now) => `${START_OVER(now)}, in_doubt = true`,
  },
  cancel: { from: ['pending', 'leased'], event: 'canceled', set: () => endUnsent(CALLED_OFF) },
  reschedule: {
    from: ['pending'],
    event: 'rescheduled',
    set: () => `run_at = $5, wake_at = $5`,
    unless: 'expires_at <= $5',
  },
}

/** The statuses that allow a decision, for telling people. */
export const DECIDABLE: Readonly<Record<EmailDecision, readonly EmailStatus[]>> = {
  retry: ['failed'],
  dismiss: ['failed'],
  sent: ['uncertain'],
  resend: ['uncertain'],
  cancel: ['scheduled', 'retry_scheduled'],
  reschedule: ['scheduled', 'retry_scheduled'],
}

/** Returns the ids of the emails that were changed. */
export async function decideEmails(
  sql: Sql,
  workspaceId: string,
  emailIds: readonly string[],
  decision: EmailDecision,
  { by, at }: { by: string; at?: Date },
): Promise<string[]> {
  const { from, event, set, unless } = RULES[decision]
  const payload: Json = { by: storable(by), ...(at && { scheduled_at: at.toISOString() }) }
  const rescheduling = decision === 'reschedule'
  const { rows } = await sql.query<{ email_id: string }>(
    `with decided as (
       update postrider.scheduled_actions set ${set(sql.now)}, state_at = ${sql.now}
       where workspace_id = $1 and ${ofEmail('$2::uuid[]', { many: true })} and state = any ($3::text[])
         ${unless ? `and (${unless}) is not true` : ''} returning message_id
     ), emails as (select distinct message_id from decided
     ), told as (
       insert into postrider.events (id, workspace_id, email_id, type, payload, at)
       select ${NEW_EVENT_ID(sql.now)}, $1, message_id, '${event}', $4::jsonb, ${sql.now} from emails
     )${rescheduling ? `, moved as (update postrider.messages set scheduled_at = $5 where id in (select message_id from emails))` : ''}
     select message_id as email_id from emails`,
    [workspaceId, emailIds, from, JSON.stringify(payload), ...(rescheduling ? [at] : [])],
  )
  return rows.map(({ email_id }) => email_id)
}

// An id that sorts by time like all others, made where the rows are: the version 7 layout over a random one.
export const NEW_EVENT_ID = (now: string) => `overlay(overlay(gen_random_uuid()::text
    placing lpad(to_hex((extract(epoch from ${now}) * 1000)::bigint >> 16), 8, '0') from 1 for 8)
    placing lpad(to_hex((extract(epoch from ${now}) * 1000)::bigint & 65535), 4, '0') || '-7' from 10 for 6)::uuid`
