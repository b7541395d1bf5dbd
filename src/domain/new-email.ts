import type { Json } from './action.js'
import type { Calendar, OnUncertain } from './message.js'
import type { RetryPolicyName } from './retry.js'

/** What somebody asks for. Addresses are as people write them: `ada@example.com` or `Ada <ada@example.com>`. */
export interface NewEmail {
  /** Absent: the sender's own. */
  readonly from?: string
  readonly to: string | readonly string[]
  readonly cc?: string | readonly string[]
  readonly bcc?: string | readonly string[]
  readonly replyTo?: string | readonly string[]
  /** Needed, unless a template has it; given beside a template, it is used instead. */
  readonly subject?: string
  /** Instead of html and text. Rendered when the email is accepted. Its id is `tpl_…`. */
  readonly template?: { readonly id: string; readonly variables?: { readonly [key: string]: Json } }
  readonly html?: string
  /** Derived from the html when missing. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly attachments?: readonly NewAttachment[]
  readonly calendar?: NewCalendar
  readonly tags?: readonly Tag[]
  /** Not before this. */
  readonly scheduledAt?: Date | string
  /** Never later than this. */
  readonly expiresAt?: Date | string
  /** `inline`: tried at once, within the call; falls back to the queue. */
  readonly delivery?: 'queue' | 'inline'
  readonly onUncertain?: OnUncertain
  readonly retryPolicy?: RetryPolicyName
  /** Absent: the sender whose address `from` is, or the workspace's default. */
  readonly senderId?: string
}

export interface NewAttachment {
  readonly filename: string
  /** Bytes, or their base64. */
  readonly content: Uint8Array | string
  readonly contentType?: string
  readonly contentId?: string
}

export interface Tag {
  readonly name: string
  readonly value: string
}

export type NewCalendar = Calendar | { readonly method: Calendar['method']; readonly event: CalendarEvent }

export interface CalendarEvent {
  /** The same for every version of one event, so that calendars recognise it. */
  readonly uid: string
  /** Grows with every change. */
  readonly sequence?: number
  readonly title: string
  readonly startsAt: Date | string
  readonly endsAt: Date | string
  readonly timezone?: string
  readonly location?: string
  readonly description?: string
  readonly organizer: { readonly name?: string; readonly address: string }
  readonly attendees?: readonly { readonly name?: string; readonly address: string }[]
}

const namesOf = <T extends object>(fields: Readonly<Record<keyof T, true>>): readonly string[] => Object.keys(fields)

/** Every name there is, by what has it. */
export const FIELDS_OF_EMAIL = {
  email: namesOf<NewEmail>({
    from: true,
    to: true,
    cc: true,
    bcc: true,
    replyTo: true,
    subject: true,
    template: true,
    html: true,
    text: true,
    headers: true,
    attachments: true,
    calendar: true,
    tags: true,
    scheduledAt: true,
    expiresAt: true,
    delivery: true,
    onUncertain: true,
    retryPolicy: true,
    senderId: true,
  }),
  attachment: namesOf<NewAttachment>({ filename: true, content: true, contentType: true, contentId: true }),
  tag: namesOf<Tag>({ name: true, value: true }),
  template: namesOf<NonNullable<NewEmail['template']>>({ id: true, variables: true }),
  calendar: ['method', 'ics', 'event'],
  event: namesOf<CalendarEvent>({
    uid: true,
    sequence: true,
    title: true,
    startsAt: true,
    endsAt: true,
    timezone: true,
    location: true,
    description: true,
    organizer: true,
    attendees: true,
  }),
} as const

export const DELIVERIES = ['queue', 'inline'] as const

export const EMAIL_LIMITS = {
  recipients: 50,
  subjectLength: 998,
  /** Characters of html and text together. */
  bodyLength: 5_000_000,
  attachments: 50,
  attachmentBytes: 25_000_000,
  tags: 20,
} as const
