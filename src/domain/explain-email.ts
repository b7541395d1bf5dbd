import type { EmailStatus } from './email-status.js'
import type { ActionState } from './states.js'
import { sayInstant } from './say-instant.js'

/** Why an email is where it is and what comes next, in one sentence for people. */
export interface Explained {
  readonly status: EmailStatus
  readonly attempts: number
  readonly runAt: Date
  readonly expiresAt: Date | null
  readonly reason: string | null
  /** It was sent again although an earlier hand-over may have been taken. */
  readonly inDoubt: boolean
  readonly lanePaused: boolean
  readonly laneHeldUntil: Date | null
  readonly senderPausedReason: string | null
  /** Of a sequence's email: whose walk it is part of. */
  readonly walk?: EmailWalk | null
  readonly now: Date
}

export interface EmailWalk {
  readonly paused: boolean
  /** The email it comes after. */
  readonly before: { readonly stepNumber: number; readonly state: ActionState; readonly runAt: Date } | null
}

const because = (reason: string | null) => (reason ? `: ${reason.replace(/[.\s]+$/, '')}.` : '.')

/** What the reason of an uncertain one says by itself. */
const DOUBTS: Readonly<Partial<Record<EmailStatus, string>>> = {
  scheduled: 'An earlier hand-over was never answered, so it may arrive twice.',
  retry_scheduled: 'An earlier hand-over was never answered, so it may arrive twice.',
  sending: 'An earlier hand-over was never answered, so it may arrive twice.',
  sent: 'An earlier hand-over was never answered, so it may have arrived twice.',
}

export function explainEmail(email: Explained): string {
  const doubt = email.inDoubt ? DOUBTS[email.status] : undefined
  return doubt ? `${explainStatus(email)} ${doubt}` : explainStatus(email)
}

function explainStatus(email: Explained): string {
  const waits = describeWait(email)
  switch (email.status) {
    case 'scheduled':
      return waits ?? 'It is due and goes out as soon as a worker takes it.'
    case 'retry_scheduled': {
      const tried = email.attempts === 0 ? 'It did not go out yet' : `It failed ${times(email.attempts)}`
      return `${tried}${because(email.reason)} ${waits ?? 'The next attempt is due.'}`
    }
    case 'sending':
      return 'A worker is handing it over right now.'
    case 'sent':
      return 'The next mail server accepted it.'
    case 'uncertain':
      return `Nobody can know whether it went out${because(email.reason)} It is held until an event about it arrives or somebody resolves it as sent or sends it again.`
    case 'failed':
      return `It failed for good${because(email.reason)} It stays so until somebody retries or dismisses it.`
    case 'canceled':
      return 'It was canceled before it went out.'
    case 'suppressed':
      return `It was not sent${because(email.reason ?? 'the address is suppressed')}`
    case 'expired':
      return 'Its time was over before it could go out.'
    case 'dismissed':
      return 'It failed, and somebody dismissed it.'
  }
}

const times = (count: number) => (count === 1 ? 'once' : `${count} times`)

function describeWait(email: Explained): string | null {
  if (email.senderPausedReason !== null)
    return `It waits because its sender is paused${because(email.senderPausedReason)}`
  if (email.lanePaused) return 'It waits because its lane is paused.'
  if (email.laneHeldUntil && email.laneHeldUntil > email.now)
    return `It waits until ${sayInstant(email.laneHeldUntil)} because the mail server asked its sender to slow down.`
  return (
    (email.walk && describeWalk(email.walk, email)) ??
    (email.runAt > email.now ? describeTime(email.runAt, email.expiresAt) : null)
  )
}

/** A wait between two attempts, or a pace, may lead past the end. */
const describeTime = (runAt: Date, expiresAt: Date | null): string =>
  expiresAt && expiresAt <= runAt
    ? `It will not go out any more: its next time is ${sayInstant(runAt)}, and it expires at ${sayInstant(expiresAt)}.`
    : `It goes out at ${sayInstant(runAt)}.`

/** What of its sequence it waits for; null when that is only its own time. */
function describeWalk({ paused, before }: EmailWalk, { runAt, now }: Explained): string | null {
  if (paused) return 'It waits because its enrollment is paused.'
  if (!before || before.state === 'done') return null
  const step = `step ${before.stepNumber}`
  if (before.state === 'failed') return `It waits because ${step} before it failed: retry or dismiss that.`
  if (before.state === 'uncertain') return `It waits because nobody knows whether ${step} before it went out.`
  const due = before.runAt > now ? `, which is due at ${sayInstant(before.runAt)}` : ''
  return runAt > now
    ? `It goes out at ${sayInstant(runAt)}, once ${step} has gone out${due}.`
    : `It waits until ${step} has gone out${due}.`
}
