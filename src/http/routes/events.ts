import { z } from '@hono/zod-openapi'
import type { Json } from '../../domain/action.js'
import { PostriderError } from '../../errors.js'
import { readId, showId } from '../../id.js'
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

export const eventEndpoints: readonly Endpoint[] = [
  keyed({
    method: 'post',
    path: '/api/events/send',
    scope: 'send',
    tag: 'Events',
    summary: 'Report what was heard of an email',
    description:
      'delivered, bounced, complained, opened, clicked and replied prove that it went out: an uncertain email is settled by them. A hard bounce (payload.bounce_type: hard) or a complaint of a recipient suppresses the address.',
    body: fields({
      event: text(1_000).openapi({ example: 'delivered' }),
      email_id: text(1_000).optional(),
      message_id: text(1_000).optional().openapi({ description: 'The Message-ID it is about.' }),
      recipient: text(1_000).optional(),
      payload,
    })
      .refine(({ email_id, message_id }) => (email_id === undefined) !== (message_id === undefined), {
        error: 'needs either email_id or message_id',
        path: ['email_id'],
      })
      .openapi('NewEvent'),
    example: { event: 'delivered', email_id: 'em_…' },
    status: 201,
    answers: 'Recorded; settled says how many uncertain deliveries it settled.',
    answer: z
      .strictObject({ object: z.literal('event'), id: z.string(), email_id: z.string(), settled: z.int() })
      .openapi('RecordedEvent'),
    problems: ['event_invalid', 'email_not_found'],
    async run({ options, caller, body }) {
      const recorded = await recordEvent(options.context, caller.workspaceId, {
        type: body.event,
        ...(body.email_id !== undefined && { emailId: readEmailId(body.email_id) }),
        ...(body.message_id !== undefined && { messageId: body.message_id }),
        ...(body.recipient !== undefined && { recipient: body.recipient }),
        ...(body.payload !== undefined && { payload: body.payload as Json }),
      })
      return {
        object: 'event' as const,
        id: showId('evt', recorded.id),
        email_id: showId('em', recorded.emailId),
        settled: recorded.settled,
      }
    },
  }),
]

function readEmailId(id: string): string {
  const read = readId('em', id)
  if (read === null) throw new PostriderError('email_not_found', 'There is no such email.')
  return read
}
