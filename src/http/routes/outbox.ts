import { z } from '@hono/zod-openapi'
import { countEmails } from '../../db/count-emails.js'
import type { EmailSummary } from '../../db/emails.js'
import { foldAddress } from '../../domain/address.js'
import type { RetryPolicies } from '../../domain/retry.js'
import { decideMatchingEmails } from '../../operations/decide-email.js'
import { readEmails } from '../../operations/read-emails.js'
import { emailRef, leadingDelivery, maxAttemptsOf, nextAttemptOf, toEmailRef, writeMailbox } from '../email-json.js'
import { type Endpoint, keyed } from '../endpoint.js'
import { asList, listOf, pageQuery, readPage } from '../pagination.js'
import { fields, text } from '../read-input.js'
import { decideFor } from './emails.js'

/** What has not gone out yet, and what needs somebody. */
const OUTBOX_STATUSES = ['scheduled', 'retry_scheduled', 'sending', 'uncertain', 'failed'] as const

const entrySchema = z
  .strictObject({
    object: z.literal('email'),
    id: z.string(),
    status: z.enum(OUTBOX_STATUSES),
    to: z.array(z.string()),
    subject: z.string(),
    attempts: z.int(),
    max_attempts: z.int().nullable(),
    next_attempt_at: z.iso.datetime().nullable(),
    last_error: z.string().nullable(),
    created_at: z.iso.datetime(),
  })
  .openapi('OutboxEntry')

const changedSchema = z.strictObject({ changed: z.int() }).openapi('Changed')

const decideAll = (decision: 'retry' | 'dismiss', summary: string): Endpoint =>
  keyed({
    method: 'post',
    path: `/api/admin/outbox/${decision}`,
    scope: 'manage',
    tag: 'Outbox',
    summary,
    description: 'Without a filter, all of them.',
    body: fields({ to: text(1_000).optional(), q: text(1_000).optional() }),
    bodyOptional: true,
    example: { q: 'invoice' },
    answers: 'How many were changed.',
    answer: changedSchema,
    async run({ options, caller, body: { to, q } }) {
      const filter = { ...(to !== undefined && { to: foldAddress(to) }), ...(q !== undefined && { q }) }
      const by = { by: caller.name }
      return { changed: await decideMatchingEmails(options.context, caller.workspaceId, filter, decision, by) }
    },
  })

export const outboxEndpoints: readonly Endpoint[] = [
  keyed({
    method: 'get',
    path: '/api/admin/outbox',
    scope: 'read',
    tag: 'Outbox',
    summary: 'List what has not gone out',
    description: 'Newest first: what waits, what is being sent, what failed, and what is uncertain.',
    query: pageQuery({ status: z.enum(OUTBOX_STATUSES).optional() }),
    answers: 'A page of entries.',
    answer: listOf(entrySchema),
    async run({ options, caller, query }) {
      const page = readPage(query, 'em')
      const filter = { status: query.status ?? OUTBOX_STATUSES }
      const emails = await readEmails(options.context, caller.workspaceId, filter, {
        ...page,
        limit: page.limit + 1,
      })
      return asList(
        emails.map((email) => toEntry(email, options.retryPolicies)),
        page,
      )
    },
  }),
  decideAll('retry', 'Retry all failed emails that match'),
  decideAll('dismiss', 'Dismiss all failed emails that match'),
  keyed({
    method: 'post',
    path: '/api/admin/outbox/{id}/retry',
    scope: 'manage',
    tag: 'Outbox',
    summary: 'Retry a failed email',
    answers: 'The email as it is now.',
    answer: emailRef,
    problems: ['email_not_found', 'email_conflict'],
    run: (call) => decideFor(call, 'retry'),
  }),
  keyed({
    method: 'delete',
    path: '/api/admin/outbox/{id}',
    scope: 'manage',
    tag: 'Outbox',
    summary: 'Dismiss a failed email',
    description: 'It stays in the history, and nobody is asked to look at it again.',
    answers: 'The email as it is now.',
    answer: emailRef,
    problems: ['email_not_found', 'email_conflict'],
    run: (call) => decideFor(call, 'dismiss'),
  }),
  keyed({
    method: 'get',
    path: '/api/admin/dashboard',
    scope: 'read',
    tag: 'Outbox',
    summary: 'How much is where',
    answers: 'Counts of deliveries.',
    answer: z
      .strictObject({
        object: z.literal('dashboard'),
        pending_email_count: z.int(),
        sending_email_count: z.int(),
        failed_email_count: z.int(),
        uncertain_email_count: z.int(),
        due_now: z.int(),
        next_hour: z.int(),
      })
      .openapi('Dashboard'),
    async run({ options, caller }) {
      const counts = await countEmails(options.context.db, caller.workspaceId)
      return {
        object: 'dashboard' as const,
        pending_email_count: counts.pending,
        sending_email_count: counts.sending,
        failed_email_count: counts.failed,
        uncertain_email_count: counts.uncertain,
        due_now: counts.dueNow,
        next_hour: counts.nextHour,
      }
    },
  }),
]

function toEntry(email: EmailSummary, policies: RetryPolicies): z.input<typeof entrySchema> {
  const delivery = leadingDelivery(email)
  return {
    ...toEmailRef(email),
    status: email.status as (typeof OUTBOX_STATUSES)[number],
    to: email.to.map(writeMailbox),
    subject: email.subject,
    attempts: delivery?.attempts ?? 0,
    max_attempts: delivery ? maxAttemptsOf(delivery, policies) : null,
    next_attempt_at: delivery ? nextAttemptOf(delivery) : null,
    last_error: delivery?.reason ?? null,
    created_at: email.createdAt.toISOString(),
  }
}
