import { z } from '@hono/zod-openapi'
import type { EmailDecision } from '../../db/decide-emails.js'
import { findSender } from '../../db/senders.js'
import { PostriderError } from '../../errors.js'
import { decideEmail } from '../../operations/decide-email.js'
import { readEmail, readEmailPage } from '../../operations/read-emails.js'
import { readEmailWalk } from '../../operations/read-enrollment.js'
import { readInstant } from '../../operations/prepare-email.js'
import { emailRef, emailSchema, toEmail, toEmailRef, toEmailSummary } from '../email-json.js'
import { emailFilterShape, emailListSchema, readEmailFilter } from '../email-list-json.js'
import { type Call, type Endpoint, keyed } from '../endpoint.js'
import { asSearchedList, pageQuery, readPage } from '../pagination.js'
import { type InputProblem, refusal } from '../problem.js'
import { fields, text } from '../read-input.js'

/** What was sent to `/emails/:id/cancel` and the like. */
const decide = (
  name: 'cancel' | 'retry',
  { decision, summary, description }: { decision: EmailDecision; summary: string; description: string },
): Endpoint =>
  keyed({
    method: 'post',
    path: `/api/emails/{id}/${name}`,
    scope: 'manage',
    tag: 'Emails',
    summary,
    description,
    answers: 'The email as it is now.',
    answer: emailRef,
    problems: ['email_not_found', 'email_conflict'],
    run: (call) => decideFor(call, decision),
  })

export const emailEndpoints: readonly Endpoint[] = [
  keyed({
    method: 'get',
    path: '/api/emails',
    scope: 'read',
    tag: 'Emails',
    summary: 'List emails',
    description:
      'Newest first. What has no index (q, sender_id, reason_code) is looked for among the newest, for a moment: a page may then be short, and searched_until is where to go on from (after).',
    query: pageQuery(emailFilterShape),
    answers: 'A page of emails.',
    answer: emailListSchema,
    async run({ options, caller, query }) {
      const page = readPage(query, 'em')
      const found = await readEmailPage(options.context, caller.workspaceId, readEmailFilter(query, 'query'), {
        ...page,
        limit: page.limit + 1,
      })
      return asSearchedList(found.emails.map(toEmailSummary), page, { prefix: 'em', ...found })
    },
  }),
  keyed({
    method: 'get',
    path: '/api/emails/{id}',
    scope: 'read',
    tag: 'Emails',
    summary: 'The whole life of one email',
    answers: 'The email, its attempts and its events, and why it is where it is.',
    answer: emailSchema,
    problems: ['email_not_found'],
    async run(call) {
      const { context } = call.options
      const { workspaceId } = call.caller
      const email = await readEmail(context, workspaceId, call.id('em'))
      if (!email) throw new PostriderError('email_not_found', 'There is no such email.')
      const sender = await findSender(context.db, workspaceId, email.senderId)
      return toEmail(email, sender, await readEmailWalk(context, workspaceId, email))
    },
  }),
  keyed({
    method: 'patch',
    path: '/api/emails/{id}',
    scope: 'manage',
    tag: 'Emails',
    summary: 'Send an email at another time',
    body: fields({ scheduled_at: text(100).openapi({ format: 'date-time' }) }),
    example: { scheduled_at: '2030-01-01T09:00:00Z' },
    answers: 'The email as it is now.',
    answer: emailRef,
    problems: ['email_not_found', 'email_conflict', 'email_invalid'],
    run: (call) => decideFor(call, 'reschedule', readScheduledAt(call.body.scheduled_at)),
  }),
  decide('cancel', {
    decision: 'cancel',
    summary: 'Cancel an email',
    description: 'As long as it is not being sent.',
  }),
  decide('retry', {
    decision: 'retry',
    summary: 'Retry a failed email',
    description: 'It starts over, with all its attempts.',
  }),
  keyed({
    method: 'post',
    path: '/api/emails/{id}/resolve',
    scope: 'manage',
    tag: 'Emails',
    summary: 'Settle an uncertain email',
    description: 'Nobody could know whether it went out: somebody found out, or decides to send it again.',
    body: fields({ outcome: z.enum(['sent', 'resend']) }),
    example: { outcome: 'sent' },
    answers: 'The email as it is now.',
    answer: emailRef,
    problems: ['email_not_found', 'email_conflict'],
    run: (call) => decideFor(call, call.body.outcome),
  }),
]

export async function decideFor(call: Call<unknown, unknown>, decision: EmailDecision, at?: Date) {
  const { context } = call.options
  const { workspaceId, name: by } = call.caller
  return toEmailRef(await decideEmail(context, workspaceId, call.id('em'), decision, { by, ...(at && { at }) }))
}

function readScheduledAt(value: string): Date {
  const problems: InputProblem[] = []
  const at = readInstant(value, 'scheduled_at', (path, detail) => void problems.push({ in: 'body', path, detail }))
  if (!at) throw refusal(problems)
  return at
}
