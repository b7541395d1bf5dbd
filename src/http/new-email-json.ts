import { z } from '@hono/zod-openapi'
import type { Json } from '../domain/action.js'
import { CALENDAR_METHODS, ON_UNCERTAIN } from '../domain/message.js'
import { DELIVERIES, EMAIL_LIMITS, type NewCalendar, type NewEmail } from '../domain/new-email.js'
import { RETRY_POLICIES, type RetryPolicyName } from '../domain/retry.js'
import { readId } from '../id.js'
import { fields, jsonObject, text } from './read-input.js'

/** An email as clients ask for it, in Resend's shape and ours beyond it. */
const address = text(4_000).openapi({ example: 'Ada <ada@example.com>' })
const addresses = z.union([address, z.array(address).max(1_000, 'at most 1000 entries')], {
  error: 'must be an address or a list of addresses',
})
const instant = text(100).openapi({ format: 'date-time', example: '2026-11-16T09:00:00Z' })

const attachment = fields(
  {
    filename: text(1_000),
    content: z.string({ error: 'must be base64' }).openapi({ format: 'byte', description: 'Base64.' }),
    content_type: text(1_000).optional(),
    content_id: text(1_000).optional().openapi({ description: 'For an inline image: named by cid: in the html.' }),
  },
  { path: 'is not supported: nothing is fetched from elsewhere, so send the content itself in base64' },
).openapi('NewAttachment')

const person = fields({ name: text(1_000).optional(), address })

const calendarEvent = fields({
  uid: text(1_000).openapi({ description: 'The same for every version of one event.' }),
  sequence: z.int('must be a whole number').min(0, 'must not be negative').max(2_147_483_647).optional(),
  title: text(1_000),
  starts_at: instant,
  ends_at: instant,
  timezone: text(100).optional(),
  location: text(10_000).optional(),
  description: text(100_000).optional(),
  organizer: person,
  attendees: z.array(person).max(1_000, 'at most 1000 entries').optional(),
}).openapi('CalendarEvent')

const calendar = fields({
  method: z.enum(CALENDAR_METHODS),
  ics: text(1_000_000).optional(),
  event: calendarEvent.optional(),
})
  .refine(({ ics, event }) => (ics === undefined) !== (event === undefined), {
    error: 'needs either ics or event',
  })
  .openapi('Calendar')

export const newEmailSchema = fields(
  {
    from: address.optional().openapi({ description: 'Absent: the sender’s own.' }),
    to: addresses,
    cc: addresses.optional(),
    bcc: addresses.optional(),
    reply_to: addresses.optional(),
    subject: text().optional().openapi({ description: 'Needed, unless a template has it.' }),
    template: fields({ id: text(1_000), variables: jsonObject.optional() })
      .optional()
      .openapi({
        description: 'Instead of html and text.',
        example: { id: 'tpl_019a8b…', variables: { name: 'Ada' } },
      }),
    html: text(EMAIL_LIMITS.bodyLength).optional(),
    text: text(EMAIL_LIMITS.bodyLength).optional().openapi({ description: 'Derived from the html when missing.' }),
    headers: z.record(z.string(), text()).optional().openapi({ description: 'X-…, List-… and a few others.' }),
    attachments: z.array(attachment).max(1_000, 'at most 1000 entries').optional(),
    calendar: calendar.optional(),
    tags: z
      .array(fields({ name: text(1_000), value: text(1_000) }))
      .max(1_000, 'at most 1000 entries')
      .optional(),
    scheduled_at: instant.optional().openapi({ description: 'Not before this.' }),
    expires_at: instant.optional().openapi({ description: 'Never later than this.' }),
    delivery: z
      .enum(DELIVERIES)
      .optional()
      .openapi({ description: 'inline: tried within the request; what fails for now is queued.' }),
    on_uncertain: z
      .enum(ON_UNCERTAIN)
      .optional()
      .openapi({ description: 'If nobody can know whether it went out: hold it, or send it again.' }),
    retry_policy: z.enum(Object.keys(RETRY_POLICIES) as [RetryPolicyName, ...RetryPolicyName[]]).optional(),
    sender_id: text(1_000).optional().openapi({ example: 'snd_019a8b…' }),
  },
  {
    topic_id: 'is not supported',
    react: 'is not supported: render it, and send html',
    idempotency_key: 'is a header: Idempotency-Key',
  },
).openapi('NewEmail')

type NewEmailJson = z.output<typeof newEmailSchema>

/** Without the fields that were not sent: the fingerprint of an email must not depend on how absence is written. */
export function toNewEmail(json: NewEmailJson): NewEmail {
  const { sender_id: sender } = json
  return given({
    from: json.from,
    to: json.to,
    cc: json.cc,
    bcc: json.bcc,
    replyTo: json.reply_to,
    subject: json.subject,
    template: json.template && toTemplate(json.template),
    html: json.html,
    text: json.text,
    headers: json.headers,
    attachments: json.attachments?.map(({ filename, content, content_type, content_id }) =>
      given({ filename, content, contentType: content_type, contentId: content_id }),
    ),
    calendar: json.calendar && toCalendar(json.calendar),
    tags: json.tags,
    scheduledAt: json.scheduled_at,
    expiresAt: json.expires_at,
    delivery: json.delivery,
    onUncertain: json.on_uncertain,
    retryPolicy: json.retry_policy,
    senderId: sender === undefined ? undefined : (readId('snd', sender) ?? sender),
  })
}

function toTemplate({ id, variables }: NonNullable<NewEmailJson['template']>): NonNullable<NewEmail['template']> {
  return given({ id, variables: variables as { readonly [key: string]: Json } | undefined })
}

function toCalendar({ method, ics, event }: z.output<typeof calendar>): NewCalendar {
  if (!event) return { method, ics: ics! }
  const { starts_at: startsAt, ends_at: endsAt, organizer, attendees, ...rest } = event
  return {
    method,
    event: given({
      ...rest,
      startsAt,
      endsAt,
      organizer: given(organizer),
      attendees: attendees?.map((attendee) => given(attendee)),
    }),
  }
}

type Given<T> = { [Key in keyof T]: Exclude<T[Key], undefined> } extends infer Clean
  ? { [Key in keyof Clean as undefined extends T[Key & keyof T] ? never : Key]: Clean[Key] } & {
      [Key in keyof Clean as undefined extends T[Key & keyof T] ? Key : never]?: Clean[Key]
    }
  : never

function given<T extends object>(object: T): Given<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Given<T>
}
