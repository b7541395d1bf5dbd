import { z } from '@hono/zod-openapi'
import type { Json } from '../../domain/action.js'
import { type ErrorCode, PostriderError } from '../../errors.js'
import { type IdPrefix, readId, showId } from '../../id.js'
import { recordEvent } from '../../operations/record-event.js'
import { type Endpoint, keyed } from '../endpoint.js'
import { fields, findPayloadProblem, text } from '../read-input.js'

const payload = z
  .record(z.string(), z.unknown())
  .superRefine((value, check) => {
    const problem = findPayloadProblem(value)
    if (problem !== null) check.addIssue({ code: 'custom', message: problem })
  })
  .optional()
  .openapi({ type: 'object', additionalProperties: true })

const SUBJECTS = ['email_id', 'message_id', 'contact_id', 'email'] as const

export const eventEndpoints: readonly Endpoint[] = [
  keyed({
    method: 'post',
    path: '/api/events/send',
    scope: 'send',
    tag: 'Events',
    summary: 'Report what was heard of an email or a contact',
    description:
      'It moves whoever waits for it in a sequence; replied, bounced, complained and unsubscribed end the walk. An answer that a machine wrote (payload.auto_reply, payload.headers) is recorded as auto_replied and ends nothing. Of an email, delivered, bounced, complained, opened, clicked and replied prove that it went out: an uncertain one is settled by them. A hard bounce (payload.bounce_type: hard) or a complaint of a recipient suppresses the address.',
    body: fields({
      event: text(1_000).openapi({ example: 'clicked' }),
      id: text(1_000).optional().openapi({ description: 'Your own: told again under it, an event counts once.' }),
      email: text(1_000).optional().openapi({ description: 'The address of the contact it is about.' }),
      contact_id: text(1_000).optional(),
      email_id: text(1_000).optional(),
      message_id: text(1_000).optional().openapi({ description: 'The Message-ID of the email it is about.' }),
      recipient: text(1_000).optional().openapi({ description: 'Of an email with several, whom it is about.' }),
      payload,
    })
      .refine((body) => SUBJECTS.filter((name) => body[name] !== undefined).length === 1, {
        error: 'is needed, or one of message_id, contact_id and email, and only one of them',
        path: ['email_id'],
      })
      .openapi('NewEvent'),
    example: { event: 'clicked', email: 'ada@example.com' },
    status: 201,
    answers: 'Recorded; settled says how many uncertain deliveries it settled, moved how many enrollments it moved.',
    otherwise: { status: 200, answers: 'It was told before, and nothing happened now.' },
    answer: z
      .strictObject({
        object: z.literal('event'),
        id: z.string(),
        event: z.string().openapi({ description: 'As it is recorded.' }),
        email_id: z.string().nullable(),
        contact_id: z.string().nullable(),
        duplicate: z.boolean(),
        settled: z.int(),
        moved: z.int(),
      })
      .openapi('RecordedEvent'),
    problems: ['event_invalid', 'email_not_found', 'contact_not_found'],
    async run(call) {
      const { body } = call
      const recorded = await recordEvent(call.options.context, call.caller.workspaceId, {
        type: body.event,
        ...(body.id !== undefined && { id: body.id }),
        ...(body.email_id !== undefined && { emailId: readSubject('em', body.email_id) }),
        ...(body.message_id !== undefined && { messageId: body.message_id }),
        ...(body.contact_id !== undefined && { contactId: readSubject('ctc', body.contact_id) }),
        ...(body.email !== undefined && { address: body.email }),
        ...(body.recipient !== undefined && { recipient: body.recipient }),
        ...(body.payload !== undefined && { payload: body.payload as Json }),
      })
      if (recorded.duplicate) call.setStatus(200)
      return {
        object: 'event' as const,
        id: showId('evt', recorded.id),
        event: recorded.type,
        email_id: recorded.emailId && showId('em', recorded.emailId),
        contact_id: recorded.contactId && showId('ctc', recorded.contactId),
        duplicate: recorded.duplicate,
        settled: recorded.settled,
        moved: recorded.moved,
      }
    },
  }),
]

const NOT_FOUND = {
  em: { code: 'email_not_found', said: 'There is no such email.' },
  ctc: { code: 'contact_not_found', said: 'There is no such contact.' },
} as const satisfies Partial<Record<IdPrefix, { code: ErrorCode; said: string }>>

function readSubject(prefix: keyof typeof NOT_FOUND, id: string): string {
  const read = readId(prefix, id)
  if (read === null) throw new PostriderError(NOT_FOUND[prefix].code, NOT_FOUND[prefix].said)
  return read
}
