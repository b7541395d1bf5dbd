import type { Shape } from '../../api/types'
import type { Mood } from '../../ui/badge'
import { formatDuration } from '../../ui/time'

type Email = Shape<'Email'>
type Attempt = Email['attempts'][number]
type Happened = Email['events'][number]

/** One thing that happened to an email, or will. */
export interface TimelineEntry {
  readonly key: string
  readonly at: string
  readonly mood: Mood
  readonly title: string
  /** Whom it is about, when there are several. */
  readonly about?: string
  /** What a server said, or a person. */
  readonly quote?: string
  readonly facts?: readonly (readonly [string, string])[]
  readonly isAhead?: true
}

export function toTimeline(email: Email): readonly TimelineEntry[] {
  const several = email.deliveries.length > 1
  const entries = [
    accepted(email),
    ...email.attempts.map((attempt, i) => ofAttempt(attempt, numberOf(email.attempts, i), several)),
    ...email.events.map(ofEvent),
  ]
  const ahead = email.deliveries.flatMap(({ recipient, next_attempt_at: at, status }) =>
    at === null
      ? []
      : [
          {
            key: `ahead ${recipient}`,
            at,
            mood: 'plain' as const,
            title: status === 'retry_scheduled' ? 'The next attempt is due' : 'It is due to go out',
            ...(several && { about: recipient }),
            isAhead: true as const,
          },
        ],
  )
  // Instants are all written the same way, so their texts sort as they do.
  const byTime = (a: TimelineEntry, b: TimelineEntry) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)
  return [...entries.toSorted(byTime), ...ahead.toSorted(byTime)]
}

const accepted = (email: Email): TimelineEntry => ({
  key: 'accepted',
  at: email.created_at,
  mood: 'calm',
  title:
    email.campaign_id === null
      ? email.scheduled_at === null
        ? 'Accepted'
        : 'Accepted, to be sent later'
      : 'Planned by its campaign',
})

/** Which attempt it was for that recipient; what was tried inside the request does not count. */
const numberOf = (attempts: readonly Attempt[], i: number): number =>
  attempts.slice(0, i + 1).filter(({ recipient, inline }) => recipient === attempts[i]!.recipient && !inline).length

const OUTCOMES: Readonly<Record<Attempt['outcome'], readonly [Mood, string]>> = {
  accepted: ['good', 'accepted by the mail server'],
  deferred: ['warn', 'put off by the mail server'],
  rejected: ['bad', 'refused'],
  uncertain: ['doubt', 'no answer after the body had begun'],
}

const PHASES: Readonly<Record<Attempt['phase'], string>> = {
  connect: 'connecting',
  greeting: 'waiting for the greeting',
  tls: 'securing the connection',
  auth: 'logging in',
  mail: 'naming the sender (MAIL)',
  rcpt: 'naming the recipient (RCPT)',
  data: 'asking to send the body (DATA)',
  body: 'sending the body',
  reply: 'after the body, at the reply',
}

const FAILURES: Readonly<Record<NonNullable<Attempt['failure']>, string>> = {
  transient: 'transient: tried again later',
  throttled: 'throttled: its sender is slowed down, no attempt is lost',
  recipient: 'recipient: the address does not take mail, and is suppressed',
  sender: 'sender: its sender was refused, and is paused',
  message: 'message: this email was refused, the address is fine',
  undecidable: 'undecidable: nobody can know whether it was taken',
}

function ofAttempt(attempt: Attempt, number: number, several: boolean): TimelineEntry {
  const [mood, words] = OUTCOMES[attempt.outcome]
  const name = attempt.inline ? 'Attempt within the request' : `Attempt ${number}`
  return {
    key: `attempt ${attempt.at} ${attempt.recipient} ${number}`,
    at: attempt.at,
    mood,
    title: `${name}: ${attempt.outcome === 'deferred' && attempt.code === null ? 'did not get through' : words}`,
    ...(several && { about: attempt.recipient }),
    quote:
      attempt.code === null || attempt.reply.startsWith(String(attempt.code))
        ? attempt.reply
        : `${attempt.code} ${attempt.reply}`,
    facts: [
      ['Came as far as', PHASES[attempt.phase]],
      ...(attempt.code === null ? [] : ([['Reply code', String(attempt.code)]] as const)),
      ...(attempt.enhanced_code === null ? [] : ([['Enhanced code', attempt.enhanced_code]] as const)),
      ...(attempt.failure === null ? [] : ([['Taken as', FAILURES[attempt.failure]]] as const)),
      ...(attempt.remote_host === null ? [] : ([['Server', attempt.remote_host]] as const)),
      [
        'Took',
        attempt.duration_ms < 1_000
          ? `${Math.round(attempt.duration_ms)} ms`
          : formatDuration(attempt.duration_ms / 1_000),
      ],
      ['Worker', attempt.worker],
    ],
  }
}

const EVENTS: Readonly<Record<string, readonly [Mood, string]>> = {
  delivered: ['good', 'Delivered'],
  opened: ['good', 'Opened'],
  clicked: ['good', 'A link was clicked'],
  replied: ['good', 'Answered'],
  auto_replied: ['plain', 'Answered by a machine'],
  bounced: ['bad', 'Bounced'],
  complained: ['bad', 'Reported as unwanted'],
  unsubscribed: ['warn', 'Unsubscribed'],
  retried: ['calm', 'Retried'],
  dismissed: ['plain', 'Dismissed'],
  canceled: ['warn', 'Canceled'],
  rescheduled: ['calm', 'Rescheduled'],
  resolved_as_sent: ['good', 'Marked as sent'],
  resolved_by_resending: ['doubt', 'Sent again, although it may have been taken before'],
  resent: ['doubt', 'Sent again, as it was asked to be when nobody can know'],
}

function ofEvent({ id, type, payload, at }: Happened): TimelineEntry {
  const [mood, words] = EVENTS[type] ?? ['plain', type.replaceAll('_', ' ')]
  const { by, recipient, ...others } = isObject(payload) ? payload : { payload }
  const facts = Object.entries(others)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(
      ([name, value]) =>
        [name.replaceAll('_', ' '), typeof value === 'string' ? value : JSON.stringify(value)] as const,
    )
  return {
    key: id,
    at,
    mood,
    title: typeof by === 'string' ? `${words} by ${by}` : words,
    ...(typeof recipient === 'string' && { about: recipient }),
    ...(facts.length > 0 && { facts }),
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
