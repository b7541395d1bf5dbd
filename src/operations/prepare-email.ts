import type { PreparedEmail } from '../db/accept-emails.js'
import type { Sender } from '../db/senders.js'
import { foldAddress, parseMailbox, parseMailboxes } from '../domain/address.js'
import { findHeaderProblems } from '../domain/headers.js'
import { parseInstant } from '../domain/instant.js'
import { emailKey } from '../domain/keys.js'
import { CALENDAR_METHODS, type Mailbox, ON_UNCERTAIN } from '../domain/message.js'
import { DELIVERIES, EMAIL_LIMITS, type NewEmail } from '../domain/new-email.js'
import { RETRY_POLICIES } from '../domain/retry.js'
import type { Problem } from '../errors.js'
import { newId } from '../id.js'
import { prepareAttachments } from './prepare-attachments.js'
import { prepareCalendar } from './prepare-calendar.js'
import { htmlToText } from '../mime/html-to-text.js'

/**
 * Turns what somebody asked for into what is stored, or into the list of everything that is wrong with it. Pure but for
 * the ids it makes; nothing is written here.
 */
export interface Preparation {
  readonly senders: readonly Sender[]
  readonly workspaceId: string
  /** The key the email came with, unique within its workspace. */
  readonly key: string | null
  /** Where it stands in its batch. */
  readonly index: number | null
  readonly lease: PreparedEmail['lease']
  readonly now: Date
}

export type Prepared =
  | { readonly email: PreparedEmail; readonly problems: readonly [] }
  | { readonly email: null; readonly problems: readonly Problem[] }

export function prepareEmail(input: NewEmail, preparation: Preparation): Prepared {
  const problems: Problem[] = []
  const refuse = (path: Problem['path'], detail: string) => void problems.push({ path, detail })

  const sender = chooseSender(input, preparation.senders, refuse)
  const from = input.from === undefined ? sender && mailboxOf(sender) : parseMailbox(input.from)
  if (input.from !== undefined && !from)
    refuse(['from'], 'must be one address, such as ada@example.com or Ada <ada@example.com>')
  const read = (field: 'to' | 'cc' | 'bcc' | 'replyTo') => readMailboxes(input[field], field, refuse)
  const [to, cc, bcc, replyTo] = [read('to'), read('cc'), read('bcc'), read('replyTo')]
  if (to.length === 0 && problems.every(({ path }) => path[0] !== 'to')) refuse(['to'], 'needs at least one address')
  const envelope = uniqueByAddress([...to, ...cc, ...bcc])
  if (envelope.length > EMAIL_LIMITS.recipients)
    refuse(['to'], `at most ${EMAIL_LIMITS.recipients} recipients in to, cc and bcc together`)

  checkSubjectAndBody(input, refuse)
  for (const { name, detail } of findHeaderProblems(input.headers ?? {})) refuse(['headers', name], detail)
  checkTags(input, refuse)
  checkChoices(input, refuse)
  const scheduledAt = readInstant(input.scheduledAt, 'scheduledAt', refuse)
  const expiresAt = readInstant(input.expiresAt, 'expiresAt', refuse)
  if (expiresAt && scheduledAt && expiresAt <= scheduledAt)
    refuse(['expiresAt'], 'must be later than the scheduled time')
  if (input.delivery === 'inline' && scheduledAt)
    refuse(['scheduledAt'], 'an inline email is sent at once: leave one of the two out')
  const attachments = prepareAttachments(input.attachments ?? [], refuse)
  const calendar = input.calendar ? prepareCalendar(input.calendar, preparation.now, refuse) : null

  if (problems.length > 0 || !sender || !from) return { email: null, problems }
  const id = newId()
  const { key, index, lease } = preparation
  return {
    problems: [],
    email: {
      id,
      workspaceId: preparation.workspaceId,
      senderId: sender.id,
      laneId: sender.id,
      messageId: `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
      from,
      to,
      cc,
      bcc,
      replyTo,
      subject: input.subject!,
      html: input.html ?? null,
      text: input.text ?? (input.html === undefined ? null : htmlToText(input.html)),
      headers: input.headers ?? {},
      tags: input.tags ?? [],
      calendar,
      attachments,
      onUncertain: input.onUncertain ?? 'hold',
      retryPolicy: input.retryPolicy ?? 'transactional',
      scheduledAt,
      expiresAt,
      deliveries: envelope.map(({ address }) => ({
        id: newId(),
        dedupeKey: emailKey({
          key: key ?? id,
          index: key === null ? null : index,
          recipient: envelope.length === 1 ? null : foldAddress(address),
        }),
        recipient: address,
      })),
      recipients: envelope.map(({ address }) => foldAddress(address)),
      key,
      lease: input.delivery === 'inline' ? lease : null,
    },
  }
}

type Refuse = (path: Problem['path'], detail: string) => void

const mailboxOf = ({ name, address }: Sender): Mailbox => ({ name, address })

/** By id, else by the address it shall come from, else the default: any address may be sent from through that. */
function chooseSender(input: NewEmail, senders: readonly Sender[], refuse: Refuse): Sender | null {
  if (input.senderId !== undefined) {
    const named = senders.find(({ id }) => id === input.senderId)
    if (!named) refuse(['senderId'], 'there is no such sender')
    return named ?? null
  }
  const address = input.from === undefined ? null : parseMailbox(input.from)?.address
  const own = address ? senders.find((sender) => foldAddress(sender.address) === foldAddress(address)) : undefined
  const chosen = own ?? senders.find(({ isDefault }) => isDefault)
  if (!chosen) refuse(['from'], 'this workspace has no default sender: make one, or name one by sender_id')
  return chosen ?? null
}

function readMailboxes(
  value: string | readonly string[] | undefined,
  field: string,
  refuse: Refuse,
): readonly Mailbox[] {
  if (value === undefined) return []
  const { mailboxes, invalid } = parseMailboxes(value)
  for (const index of invalid)
    refuse(
      typeof value === 'string' ? [field] : [field, index],
      'must be one address, such as ada@example.com or Ada <ada@example.com>',
    )
  return mailboxes
}

/** Somebody named twice gets one email, as in every mail client. */
function uniqueByAddress(mailboxes: readonly Mailbox[]): Mailbox[] {
  const seen = new Map<string, Mailbox>()
  for (const mailbox of mailboxes) {
    const folded = foldAddress(mailbox.address)
    if (!seen.has(folded)) seen.set(folded, mailbox)
  }
  return [...seen.values()]
}

function checkSubjectAndBody({ subject, html, text, calendar, attachments }: NewEmail, refuse: Refuse): void {
  if (typeof subject !== 'string') refuse(['subject'], 'is needed')
  else if (subject.length > EMAIL_LIMITS.subjectLength)
    refuse(['subject'], `at most ${EMAIL_LIMITS.subjectLength} characters`)
  else if (/[\p{Cc}\u2028\u2029]/u.test(subject)) refuse(['subject'], 'must be one line without control characters')
  else if (!subject.isWellFormed()) refuse(['subject'], NOT_TEXT)
  if (html === undefined && text === undefined && !calendar && (attachments ?? []).length === 0)
    refuse(['text'], 'an email needs html, text, a calendar or an attachment')
  if ((html?.length ?? 0) + (text?.length ?? 0) > EMAIL_LIMITS.bodyLength)
    refuse([html === undefined ? 'text' : 'html'], `at most ${EMAIL_LIMITS.bodyLength} characters of html and text`)
  if (html !== undefined && !isStorable(html)) refuse(['html'], NOT_TEXT)
  if (text !== undefined && !isStorable(text)) refuse(['text'], NOT_TEXT)
}

const NOT_TEXT = 'contains a NUL character or half a surrogate pair'
const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed()

function checkTags({ tags = [] }: NewEmail, refuse: Refuse): void {
  if (tags.length > EMAIL_LIMITS.tags) refuse(['tags'], `at most ${EMAIL_LIMITS.tags}`)
  for (const [index, tag] of tags.entries())
    for (const part of ['name', 'value'] as const)
      if (!/^[\w-]{1,256}$/.test(tag[part]))
        refuse(['tags', index, part], 'must be 1 to 256 letters, digits, underscores or dashes')
}

function checkChoices(input: NewEmail, refuse: Refuse): void {
  const choices = [
    ['delivery', DELIVERIES],
    ['onUncertain', ON_UNCERTAIN],
    ['retryPolicy', Object.keys(RETRY_POLICIES)],
  ] as const
  for (const [name, allowed] of choices)
    if (input[name] !== undefined && !(allowed as readonly string[]).includes(input[name]))
      refuse([name], `must be one of ${allowed.join(', ')}`)
  if (input.calendar && !CALENDAR_METHODS.includes(input.calendar.method))
    refuse(['calendar', 'method'], `must be one of ${CALENDAR_METHODS.join(', ')}`)
}

/** As it was given, or as it was written in a request. */
export function readInstant(value: Date | string | undefined, name: string, refuse: Refuse): Date | null {
  if (value === undefined) return null
  const instant = value instanceof Date ? value : parseInstant(value)
  if (typeof instant === 'string') {
    refuse([name], instant)
    return null
  }
  const year = instant.getUTCFullYear()
  if (year >= 1 && year <= 9_999) return instant
  refuse([name], 'must be an instant between the years 1 and 9999')
  return null
}
