import { z } from '@hono/zod-openapi'
import type { DeliveryState, Email, EmailSummary } from '../db/emails.js'
import type { Sender } from '../db/senders.js'
import { ATTEMPT_OUTCOMES } from '../domain/attempt.js'
import { EMAIL_STATUSES } from '../domain/email-status.js'
import { type EmailWalk, explainEmail } from '../domain/explain-email.js'
import { FAILURE_CLASSES, PHASES } from '../domain/failure.js'
import { CALENDAR_METHODS, type Mailbox, ON_UNCERTAIN } from '../domain/message.js'
import { DELIVERIES } from '../domain/new-email.js'
import type { RetryPolicies, RetryPolicyName } from '../domain/retry.js'
import { showId } from '../id.js'

/** Emails as clients see them. Resend's fields have Resend's names and meanings. */
const instant = z.iso.datetime().openapi({ format: 'date-time' })

export const emailStatus = z
  .enum(EMAIL_STATUSES)
  .openapi('EmailStatus', { description: 'Of several recipients, the least finished.' })

export const emailRef = z
  .strictObject({ object: z.literal('email'), id: z.string().openapi({ example: 'em_019a8b…' }), status: emailStatus })
  .openapi('EmailReference')

export const stepSchema = z
  .strictObject({ node: z.string(), number: z.int() })
  .openapi('Step', { description: 'Which of a sequence’s emails: its node, and its place among them from 1 on.' })

const summaryShape = {
  ...emailRef.shape,
  last_event: z.string().openapi({ description: 'In Resend’s words; what was last heard of it.' }),
  in_doubt: z.boolean().openapi({
    description:
      'It was sent again although nobody could know about an earlier hand-over: it may have been taken twice.',
  }),
  from: z.string(),
  to: z.array(z.string()),
  cc: z.array(z.string()),
  bcc: z.array(z.string()),
  reply_to: z.array(z.string()),
  subject: z.string(),
  tags: z.array(z.strictObject({ name: z.string(), value: z.string() })),
  sender_id: z.string(),
  campaign_id: z.string().nullable(),
  campaign_name: z.string().nullable(),
  contact_id: z.string().nullable().openapi({ description: 'Whom it was rendered for, if it is of a campaign.' }),
  enrollment_id: z.string().nullable().openapi({ description: 'Whose walk it is part of, if it is of a sequence.' }),
  step: stepSchema.nullable(),
  created_at: instant,
  scheduled_at: instant.nullable(),
  expires_at: instant.nullable(),
  updated_at: instant.openapi({ description: 'Since when it is as it is: of one that was sent, when it was.' }),
  attempts: z.int().openapi({ description: 'Of the least finished recipient, as the next two.' }),
  next_attempt_at: instant.nullable(),
  last_error: z.string().nullable(),
}

export const emailSummarySchema = z.strictObject(summaryShape).openapi('EmailSummary')

export const emailSchema = z
  .strictObject({
    ...summaryShape,
    message_id: z.string(),
    explain: z.string().openapi({ description: 'Why it is where it is, and what comes next.' }),
    html: z.string().nullable(),
    text: z.string().nullable(),
    headers: z.record(z.string(), z.string()),
    calendar: z.strictObject({ method: z.enum(CALENDAR_METHODS), ics: z.string() }).nullable(),
    attachments: z.array(
      z.strictObject({
        filename: z.string(),
        content_type: z.string(),
        content_id: z.string().nullable(),
        size: z.int(),
      }),
    ),
    delivery: z.enum(DELIVERIES),
    on_uncertain: z.enum(ON_UNCERTAIN),
    retry_policy: z.string().nullable(),
    deliveries: z
      .array(
        z.strictObject({
          recipient: z.string(),
          status: emailStatus,
          attempts: z.int(),
          next_attempt_at: instant.nullable(),
          reason: z.string().nullable(),
          reason_code: z.string().nullable(),
          in_doubt: z.boolean(),
          updated_at: instant,
        }),
      )
      .openapi({ description: 'One per recipient.' }),
    attempts: z.array(
      z.strictObject({
        recipient: z.string(),
        at: instant,
        outcome: z.enum(ATTEMPT_OUTCOMES),
        failure: z.enum(FAILURE_CLASSES).nullable(),
        phase: z.enum(PHASES),
        code: z.int().nullable(),
        enhanced_code: z.string().nullable(),
        reply: z.string(),
        remote_host: z.string().nullable(),
        duration_ms: z.number(),
        worker: z.string(),
        inline: z.boolean(),
      }),
    ),
    events: z.array(z.strictObject({ id: z.string(), type: z.string(), payload: z.unknown(), at: instant })),
  })
  .openapi('Email')

export const toEmailRef = ({ id, status }: { id: string; status: EmailSummary['status'] }) => ({
  object: 'email' as const,
  id: showId('em', id),
  status,
})

export function toEmailSummary(email: EmailSummary): z.input<typeof emailSummarySchema> {
  const leading = leadingDelivery(email)
  return {
    ...toEmailRef(email),
    last_event: lastEventOf(email),
    in_doubt: email.deliveries.some(({ inDoubt }) => inDoubt),
    from: writeMailbox(email.from),
    to: email.to.map(writeMailbox),
    cc: email.cc.map(writeMailbox),
    bcc: email.bcc.map(writeMailbox),
    reply_to: email.replyTo.map(writeMailbox),
    subject: email.subject,
    tags: [...email.tags],
    sender_id: showId('snd', email.senderId),
    campaign_id: email.campaign && showId('cmp', email.campaign.id),
    campaign_name: email.campaign?.name ?? null,
    contact_id: email.campaign && showId('ctc', email.campaign.contact.id),
    enrollment_id: email.campaign?.step ? showId('enr', email.campaign.step.enrollmentId) : null,
    step: email.campaign?.step ? { node: email.campaign.step.nodeId, number: email.campaign.step.stepNumber } : null,
    created_at: email.createdAt.toISOString(),
    scheduled_at: email.scheduledAt?.toISOString() ?? null,
    expires_at: email.expiresAt?.toISOString() ?? null,
    updated_at: (leading?.stateAt ?? email.createdAt).toISOString(),
    attempts: leading?.attempts ?? 0,
    next_attempt_at: leading ? nextAttemptOf(leading) : null,
    last_error: leading?.reason ?? null,
  }
}

export function toEmail(
  email: Email,
  sender: Sender | null,
  walk: EmailWalk | null = null,
): z.input<typeof emailSchema> {
  const recipients = new Map(email.deliveries.map(({ actionId, recipient }) => [actionId, recipient]))
  const heard = email.events.findLast(({ type }) => HEARD.has(type))
  const leading = leadingDelivery(email)
  return {
    ...toEmailSummary(email),
    message_id: email.messageId,
    ...(heard && { last_event: heard.type }),
    explain: leading ? explain(email, leading, { sender, walk }) : 'It has no recipients.',
    html: email.html,
    text: email.text,
    headers: { ...email.headers },
    calendar: email.calendar,
    attachments: email.attachments.map(({ filename, contentType, contentId, size }) => ({
      filename,
      content_type: contentType,
      content_id: contentId,
      size,
    })),
    delivery: email.inline ? 'inline' : 'queue',
    on_uncertain: email.onUncertain,
    retry_policy: leading?.retryPolicy ?? null,
    deliveries: email.deliveries.map((delivery) => ({
      recipient: delivery.recipient,
      status: delivery.status,
      attempts: delivery.attempts,
      next_attempt_at: nextAttemptOf(delivery),
      reason: delivery.reason,
      reason_code: delivery.reasonCode,
      in_doubt: delivery.inDoubt,
      updated_at: delivery.stateAt.toISOString(),
    })),
    attempts: email.attempts.map((attempt) => ({
      recipient: recipients.get(attempt.actionId) ?? '',
      at: attempt.at.toISOString(),
      outcome: attempt.outcome,
      failure: attempt.failure,
      phase: attempt.phase,
      code: attempt.code,
      enhanced_code: attempt.enhancedCode,
      reply: attempt.reply,
      remote_host: attempt.remoteHost,
      duration_ms: attempt.durationMs,
      worker: attempt.worker,
      inline: attempt.inline,
    })),
    events: email.events.map(({ id, type, payload, at }) => ({
      id: showId('evt', id),
      type,
      payload,
      at: at.toISOString(),
    })),
  }
}

/** The delivery the email's status is that of. */
export const leadingDelivery = ({ deliveries, status }: EmailSummary): DeliveryState | undefined =>
  deliveries.find((delivery) => delivery.status === status)

export const nextAttemptOf = ({ state, runAt }: DeliveryState): string | null =>
  state === 'pending' ? runAt.toISOString() : null

export const maxAttemptsOf = ({ retryPolicy }: DeliveryState, policies: RetryPolicies): number | null =>
  policies[retryPolicy as RetryPolicyName]?.maxAttempts ?? null

const explain = (
  email: Email,
  delivery: DeliveryState,
  { sender, walk }: { readonly sender: Sender | null; readonly walk: EmailWalk | null },
) =>
  explainEmail({
    status: email.status,
    attempts: delivery.attempts,
    runAt: delivery.runAt,
    expiresAt: email.expiresAt,
    reason: delivery.reason,
    inDoubt: delivery.inDoubt,
    lanePaused: delivery.lanePaused,
    laneHeldUntil: delivery.laneHeldUntil,
    senderPausedReason: sender?.pausedReason ?? null,
    walk,
    now: email.now,
  })

const HEARD: ReadonlySet<string> = new Set(['delivered', 'bounced', 'complained', 'opened', 'clicked'])

/** Resend has fewer words. What it has none for keeps ours: a client that cannot read it should not guess. */
function lastEventOf({ status, scheduledAt }: EmailSummary): string {
  switch (status) {
    case 'scheduled':
      return scheduledAt === null ? 'queued' : 'scheduled'
    case 'sending':
      return 'queued'
    case 'retry_scheduled':
      return 'delivery_delayed'
    default:
      return status
  }
}

const ATOMS = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?: [\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u

/** As people write it, and as we read it: what comes out can be sent in again. */
export function writeMailbox({ name, address }: Mailbox): string {
  if (name === null) return address
  const shown = ATOMS.test(name) ? name : `"${name.replaceAll(/["\\]/g, String.raw`\$&`)}"`
  return `${shown} <${address}>`
}
