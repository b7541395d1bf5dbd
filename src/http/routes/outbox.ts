import { z } from '@hono/zod-openapi'
import type { EmailSummary } from '../../db/emails.js'
import type { RetryPolicies } from '../../domain/retry.js'
import { readEmailPage } from '../../operations/read-emails.js'
import { emailRef, leadingDelivery, maxAttemptsOf, nextAttemptOf, toEmailRef, writeMailbox } from '../email-json.js'
import { type Endpoint, keyed } from '../endpoint.js'
import { asSearchedList, pageQuery, readPage, searchedListOf } from '../pagination.js'
import { decideFor } from './emails.js'
import { massEndpoints } from './mass-decisions.js'

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
    answer: searchedListOf(entrySchema),
    async run({ options, caller, query }) {
      const page = readPage(query, 'em')
      const filter = { status: query.status ?? OUTBOX_STATUSES }
      const found = await readEmailPage(options.context, caller.workspaceId, filter, {
        ...page,
        limit: page.limit + 1,
      })
      const entries = found.emails.map((email) => toEntry(email, options.retryPolicies))
      return asSearchedList(entries, page, { prefix: 'em', ...found })
    },
  }),
  ...massEndpoints,
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
