import { findContact, findContactByAddress } from '../db/contacts.js'
import type { Sql } from '../db/client.js'
import { findEmail } from '../db/emails.js'
import { findOpenEnrollments, lockWalks } from '../db/enrollments.js'
import { insertNewEvent, settleByEvidence } from '../db/events.js'
import { insertSuppressions } from '../db/suppressions.js'
import type { Json } from '../domain/action.js'
import { foldAddress } from '../domain/address.js'
import { isRealReply } from '../domain/reply.js'
import { EVENT_NAME } from '../domain/sequence.js'
import { PostriderError } from '../errors.js'
import { isId } from '../id.js'
import type { Context } from './context.js'
import { walkEnrollment } from './walk-enrollment.js'

/** Something was heard about an email or a contact. Only a mail that went out can be delivered, opened or answered. */
const PROOFS_OF_SENDING = ['delivered', 'bounced', 'complained', 'opened', 'clicked', 'replied', 'auto_replied']
/** About the person, whichever email it was said of: they end every walk. */
const OF_THE_CONTACT = ['bounced', 'complained', 'unsubscribed']
const LONGEST_ID = 256

export interface NewEvent {
  readonly type: string
  /** The teller's own id of it: told again, it counts once. */
  readonly id?: string
  /** What it is about: an email, by its id or its Message-ID, or a contact, by its id or its address. */
  readonly emailId?: string
  /** With or without angle brackets. */
  readonly messageId?: string
  readonly contactId?: string
  readonly address?: string
  /** Whom it is about, if the email has several recipients. */
  readonly recipient?: string
  readonly payload?: Json
}

export interface RecordedEvent {
  readonly id: string
  readonly emailId: string | null
  readonly contactId: string | null
  /** As it is recorded: a machine's answer is no reply. */
  readonly type: string
  /** It was told before, and nothing happened now. */
  readonly duplicate: boolean
  /** How many uncertain deliveries this settled as sent. */
  readonly settled: number
  /** How many enrollments it moved or stopped. */
  readonly moved: number
}

export async function recordEvent(context: Context, workspaceId: string, event: NewEvent): Promise<RecordedEvent> {
  const { emailId, contactId, address } = await findSubject(context, workspaceId, event)
  const payload = asObject(event.payload)
  const type = await judge(context, workspaceId, event.type, payload)
  const recipient = event.recipient === undefined ? null : foldAddress(event.recipient)
  const recorded = await context.db.transaction(async (tx) => {
    const row = { emailId, contactId, externalId: event.id ?? null, type }
    const kept = { ...payload, ...(recipient && { recipient }) }
    const { id, isNew } = await insertNewEvent(tx, workspaceId, { ...row, payload: kept })
    if (!isNew) return { id, duplicate: true, settled: 0, moved: 0 }
    const proof = emailId !== null && PROOFS_OF_SENDING.includes(type)
    const settled = proof ? await settleByEvidence(tx, workspaceId, emailId, recipient) : []
    if (recipient && isFinal(type, payload))
      await insertSuppressions(tx, workspaceId, [recipient], {
        scope: 'all',
        reason: type === 'complained' ? 'complaint' : 'hard_bounce',
        detail: `reported by an event of type ${type}`,
      })
    // Told by somebody else than our own link, which knows the list: nothing but what they asked for any more.
    if (address !== null && type === 'unsubscribed')
      await insertSuppressions(tx, workspaceId, [address], {
        scope: 'marketing',
        reason: 'unsubscribe',
        detail: 'reported by an event of type unsubscribed',
      })
    const moved = contactId === null ? 0 : await moveEnrollments(tx, context, workspaceId, { emailId, contactId, type })
    return { id, duplicate: false, settled: settled.length, moved }
  })
  const { id, ...rest } = recorded
  context.log.info({ event: type, ...(emailId && { email: emailId }), ...rest }, 'event')
  if (recorded.moved > 0) context.wake(true)
  return { id, emailId, contactId, type, ...rest }
}

async function findSubject({ db }: Context, workspaceId: string, event: NewEvent): Promise<Subject> {
  const invalid = (path: string, detail: string, said: string) =>
    new PostriderError('event_invalid', said, { problems: [{ path: [path], detail }] })
  if (!EVENT_NAME.test(event.type))
    throw invalid(
      'event',
      'must be 1 to 64 lower-case letters, digits, dots, dashes or underscores',
      'An event is named by lower-case letters, digits, dots and dashes.',
    )
  if (event.id !== undefined && (event.id === '' || event.id.length > LONGEST_ID))
    throw invalid('id', `must have 1 to ${LONGEST_ID} characters`, 'The id of an event is too long, or empty.')
  if (event.contactId !== undefined || event.address !== undefined) {
    const contact =
      event.contactId === undefined
        ? await findContactByAddress(db, workspaceId, foldAddress(event.address ?? ''))
        : await findContact(db, workspaceId, event.contactId)
    if (!contact) throw new PostriderError('contact_not_found', 'There is no such contact.')
    return { emailId: null, contactId: contact.id, address: foldAddress(contact.address) }
  }
  const emailId = event.emailId ?? emailOfMessageId(event.messageId ?? '')
  const email = emailId && (await findEmail(db, workspaceId, emailId))
  if (!emailId || !email) throw new PostriderError('email_not_found', 'There is no such email.')
  const [delivery] = email.deliveries
  const address = event.recipient ?? (email.deliveries.length === 1 ? delivery?.recipient : undefined)
  return { emailId, contactId: email.campaign?.contact.id ?? null, address: address ? foldAddress(address) : null }
}

interface Subject {
  readonly emailId: string | null
  readonly contactId: string | null
  /** Folded: whose event it is, if that is clear. */
  readonly address: string | null
}

/** As what it is recorded: an answer nobody wrote is not a reply, and a full mailbox is not the end of an address. */
async function judge(
  context: Context,
  workspaceId: string,
  type: string,
  payload: { readonly [key: string]: Json },
): Promise<string> {
  if (type === 'bounced' && payload['bounce_type'] === 'soft') return 'soft_bounced'
  if (type !== 'replied') return type
  const own = new Set((await context.sendersOf(workspaceId)).map(({ address }) => foldAddress(address)))
  return isRealReply(payload, own, foldAddress) ? 'replied' : 'auto_replied'
}

/** All that it concerns, under their locks. */
async function moveEnrollments(
  tx: Sql,
  context: Context,
  workspaceId: string,
  { emailId, contactId, type }: { emailId: string | null; contactId: string; type: string },
): Promise<number> {
  const ofOne = emailId !== null && !OF_THE_CONTACT.includes(type)
  const open = await findOpenEnrollments(tx, workspaceId, ofOne ? { emailId } : { contactIds: [contactId] })
  let moved = 0
  const ids = open.map(({ id }) => id)
  for (const enrollment of await lockWalks(tx, workspaceId, ids))
    if (await walkEnrollment(tx, enrollment, { kind: 'event', event: type }, context)) moved++
  return moved
}

/** `<id@domain>`: every Message-ID we write has the email's id in it. */
function emailOfMessageId(messageId: string): string | null {
  const id = messageId.replace(/^</, '').split('@')[0] ?? ''
  return isId(id) ? id : null
}

const asObject = (payload: Json | undefined): { readonly [key: string]: Json } =>
  payload && typeof payload === 'object' && !Array.isArray(payload) ? (payload as { [key: string]: Json }) : {}

/** A complaint, or a bounce that says the address does not exist. */
const isFinal = (type: string, payload: { readonly [key: string]: Json }) =>
  type === 'complained' || (type === 'bounced' && payload['bounce_type'] === 'hard')
