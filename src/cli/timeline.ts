import type { Email, EmailEvent, RecordedAttempt } from '../db/emails.js'
import type { Json } from '../domain/action.js'

/** The life of one email in the order it happened. Pure: from what is recorded to what people and programs read. */
export interface Moment {
  readonly at: Date
  readonly kind: 'accepted' | 'attempt' | 'event'
  /** In a few words. */
  readonly what: string
  /** One fact each. */
  readonly details: readonly string[]
}

export function toTimeline(email: Email): Moment[] {
  const moments = [accepted(email), ...attempts(email), ...email.events.map(toEvent)]
  // Stable: what has the same instant stays in the order of this list.
  return moments.toSorted((a, b) => a.at.getTime() - b.at.getTime())
}

function accepted(email: Email): Moment {
  const count = email.deliveries.length
  return {
    at: email.createdAt,
    kind: 'accepted',
    what: `accepted for ${count} ${count === 1 ? 'recipient' : 'recipients'}`,
    details: [
      ...(email.inline ? ['to be sent within the request'] : []),
      ...(email.scheduledAt ? [`scheduled for ${email.scheduledAt.toISOString()}`] : []),
      ...(email.expiresAt ? [`not later than ${email.expiresAt.toISOString()}`] : []),
      ...(email.onUncertain === 'resend' ? ['sent again if nobody can know whether it went out'] : []),
    ],
  }
}

function attempts(email: Email): Moment[] {
  const recipients = new Map(email.deliveries.map(({ actionId, recipient }) => [actionId, recipient]))
  const made = new Map<string, number>()
  return email.attempts.map((attempt) => {
    const number = (made.get(attempt.actionId) ?? 0) + 1
    made.set(attempt.actionId, number)
    const to = recipients.get(attempt.actionId) ?? 'a recipient'
    return {
      at: attempt.at,
      kind: 'attempt',
      what: `attempt ${number} to ${to}: ${attempt.outcome}${attempt.failure ? ` (${attempt.failure})` : ''}`,
      details: evidenceOf(attempt),
    }
  })
}

const evidenceOf = (attempt: RecordedAttempt): string[] => [
  replyOf(attempt),
  [
    `reached ${attempt.phase}`,
    ...(attempt.remoteHost === null ? [] : [`at ${attempt.remoteHost}`]),
    `in ${formatMs(attempt.durationMs)}`,
    ...(attempt.inline ? ['within the request'] : []),
  ].join(' '),
  `by ${attempt.worker}`,
]

/** A server's reply mostly begins with its codes. They are said once, and also where it leaves them out. */
function replyOf({ code, enhancedCode, reply }: RecordedAttempt): string {
  const codes = [code, enhancedCode].filter((part) => part !== null).map(String)
  let said = reply.trim()
  for (const part of codes) if (`${said} `.startsWith(`${part} `)) said = said.slice(part.length).trim()
  return [...codes, said].filter((part) => part !== '').join(' ')
}

const formatMs = (ms: number) => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`)

function toEvent({ type, payload, at }: EmailEvent): Moment {
  const { by, ...rest } = (payload ?? {}) as { readonly [key: string]: Json }
  return {
    at,
    kind: 'event',
    what: `${type.replaceAll('_', ' ')}${typeof by === 'string' ? ` by ${by}` : ''}`,
    details: Object.entries(rest).map(
      ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    ),
  }
}
