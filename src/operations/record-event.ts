import { findEmail } from '../db/emails.js'
import { insertEvent, settleByEvidence } from '../db/events.js'
import { insertSuppressions } from '../db/suppressions.js'
import type { Json } from '../domain/action.js'
import { foldAddress } from '../domain/address.js'
import { PostriderError } from '../errors.js'
import { isId } from '../id.js'
import type { Context } from './context.js'

/** Something was heard about an email. Only a mail that went out can be delivered, opened, answered or bounced. */
const PROOFS_OF_SENDING = ['delivered', 'bounced', 'complained', 'opened', 'clicked', 'replied']
const EVENT_TYPE = /^[a-z][a-z0-9_.-]{0,63}$/

export interface NewEvent {
  readonly type: string
  readonly emailId?: string
  /** The Message-ID it is about, with or without angle brackets. */
  readonly messageId?: string
  /** Whom it is about, if the email has several recipients. */
  readonly recipient?: string
  readonly payload?: Json
}

export interface RecordedEvent {
  readonly id: string
  readonly emailId: string
  /** How many uncertain deliveries this settled as sent. */
  readonly settled: number
}

export async function recordEvent(context: Context, workspaceId: string, event: NewEvent): Promise<RecordedEvent> {
  if (!EVENT_TYPE.test(event.type))
    throw new PostriderError('event_invalid', 'An event is named by lower-case letters, digits, dots and dashes.', {
      problems: [
        { path: ['event'], detail: 'must be 1 to 64 lower-case letters, digits, dots, dashes or underscores' },
      ],
    })
  const emailId = event.emailId ?? emailOfMessageId(event.messageId ?? '')
  if (!emailId || !(await findEmail(context.db, workspaceId, emailId)))
    throw new PostriderError('email_not_found', 'There is no such email.')
  const recipient = event.recipient === undefined ? null : foldAddress(event.recipient)
  const proof = PROOFS_OF_SENDING.includes(event.type)
  const [id, settled] = await context.db.transaction(async (tx) => {
    const payload = { ...asObject(event.payload), ...(recipient && { recipient }) }
    const eventId = await insertEvent(tx, workspaceId, { emailId, type: event.type, payload })
    const evidence = proof ? await settleByEvidence(tx, workspaceId, emailId, recipient) : []
    if (recipient && isFinal(event))
      await insertSuppressions(tx, workspaceId, [recipient], {
        scope: 'all',
        reason: event.type === 'complained' ? 'complaint' : 'hard_bounce',
        detail: `reported by an event of type ${event.type}`,
      })
    return [eventId, evidence] as const
  })
  context.log.info({ email: emailId, event: event.type, settled: settled.length }, 'event')
  return { id, emailId, settled: settled.length }
}

/** `<id@domain>`: every Message-ID we write has the email's id in it. */
function emailOfMessageId(messageId: string): string | null {
  const id = messageId.replace(/^</, '').split('@')[0] ?? ''
  return isId(id) ? id : null
}

const asObject = (payload: Json | undefined): { readonly [key: string]: Json } =>
  payload && typeof payload === 'object' && !Array.isArray(payload) ? (payload as { [key: string]: Json }) : {}

/** A complaint, or a bounce that says the address does not exist. */
const isFinal = ({ type, payload }: NewEvent) =>
  type === 'complained' || (type === 'bounced' && asObject(payload)['bounce_type'] === 'hard')
