import { createHash } from 'node:crypto'
import {
  acceptEmails,
  answerIdempotencyKey,
  findIdempotencyKey,
  isKeyTaken,
  type PreparedEmail,
} from '../db/accept-emails.js'
import type { Sql } from '../db/client.js'
import { readEmailStatuses } from '../db/email-statuses.js'
import type { Json } from '../domain/action.js'
import type { EmailStatus } from '../domain/email-status.js'
import type { NewEmail } from '../domain/new-email.js'
import { sayProblems } from '../domain/say-problem.js'
import { type Problem, PostriderError } from '../errors.js'
import { applyTemplates } from './apply-templates.js'
import type { Context } from './context.js'
import { prepareEmail } from './prepare-email.js'

/**
 * Accepts emails. Durable when it resolves, or, with `tx`, when the caller's transaction commits. With an idempotency
 * key the same call may be made any number of times, at once or later: one of them writes, all get the same answer.
 */
export interface SendOptions {
  readonly idempotencyKey?: string | undefined
  /** The caller's own transaction: the emails exist if and only if it commits. */
  readonly tx?: Sql | undefined
  /** `permissive` accepts the valid ones of a batch and reports the others; `strict` accepts all or none. */
  readonly mode?: 'strict' | 'permissive'
  /** How long an inline email may keep the caller waiting. */
  readonly deadlineMs?: number | undefined
  /** A batch numbers its emails; a single email does not. */
  readonly batch?: boolean
}

export interface SentEmail {
  readonly id: string
  readonly status: EmailStatus
}

export interface SendResult {
  /** In the order given, without the refused ones. */
  readonly emails: readonly SentEmail[]
  readonly refused: readonly { readonly index: number; readonly problems: readonly Problem[] }[]
  /** The key was used before for the same thing; this is what it was answered with then. */
  readonly replayed: boolean
}

export const INLINE_DEADLINE_MS = 10_000
const KEY_LENGTH = 256

export async function sendEmails(
  context: Context,
  workspaceId: string,
  inputs: readonly NewEmail[],
  options: SendOptions = {},
): Promise<SendResult> {
  const key = readKey(options.idempotencyKey)
  const lease = inputs.some(({ delivery }) => delivery === 'inline') && !options.tx ? context.newLease() : null
  const { emails, refused } = await prepareAll(context, workspaceId, inputs, { key, lease, options })
  const inline = emails.filter((email) => email.lease !== null)
  const answer = { emails: emails.map(({ id }) => ({ id, status: 'scheduled' as const })), refused }
  const keys =
    key === null
      ? []
      : [
          {
            workspaceId,
            key,
            fingerprint: fingerprintOf(inputs),
            emailIds: emails.map(({ id }) => id),
            // An inline email's answer is known when it has been tried.
            answer: inline.length > 0 ? null : (answer as unknown as Json),
          },
        ]
  const accepting = options.tx ? acceptEmails(options.tx, emails, keys) : context.accept(emails, keys)
  const accepted = await accepting.catch(explainTaken)
  if (key !== null && emails.some(({ id }) => !accepted.has(id)))
    return replay(options.tx ?? context.db, workspaceId, key, keys[0]!.fingerprint)
  logAccepted(context, emails)
  if (inline.length === 0) {
    if (!options.tx) context.wake(emails.some(({ scheduledAt }) => scheduledAt !== null))
    return { ...answer, replayed: false }
  }
  context.wake()
  await context.sendNow(inline, options.deadlineMs ?? INLINE_DEADLINE_MS)
  const result = { emails: await readStatuses(context.db, workspaceId, answer.emails), refused, replayed: false }
  if (key !== null)
    await answerIdempotencyKey(context.db, workspaceId, key, { emails: result.emails, refused } as unknown as Json)
  return result
}

async function prepareAll(
  context: Context,
  workspaceId: string,
  inputs: readonly NewEmail[],
  { key, lease, options }: { key: string | null; lease: PreparedEmail['lease']; options: SendOptions },
) {
  const senders = await context.sendersOf(workspaceId)
  const applied = await applyTemplates(context, options.tx ?? context.db, workspaceId, inputs)
  const emails: PreparedEmail[] = []
  const refused: { index: number; problems: readonly Problem[] }[] = []
  for (const [index, { email: input, problems: unfit }] of applied.entries()) {
    if (unfit.length > 0) {
      refused.push({ index, problems: unfit })
      continue
    }
    const own = lease && input.delivery === 'inline' ? context.newLease() : null
    const place = options.batch ? index : null
    const { email, problems } = prepareEmail(input, {
      senders,
      workspaceId,
      key,
      index: place,
      lease: own,
      now: new Date(),
    })
    if (email) emails.push(email)
    else refused.push({ index, problems })
  }
  if (refused.length > 0 && options.mode !== 'permissive') {
    const problems = refused.flatMap(({ index, problems }) =>
      problems.map(({ path, detail }) => ({ path: options.batch ? [index, ...path] : path, detail })),
    )
    throw new PostriderError('email_invalid', describe(problems), { problems })
  }
  return { emails, refused }
}

const describe = (problems: readonly Problem[]) => `The email cannot be sent: ${sayProblems(problems, 'emails')}.`

function readKey(key: string | undefined): string | null {
  if (key === undefined) return null
  if (key.length < 1 || key.length > KEY_LENGTH || /\p{Cc}/u.test(key) || !key.isWellFormed())
    throw new PostriderError('email_invalid', `An idempotency key must have 1 to ${KEY_LENGTH} characters.`, {
      problems: [{ path: ['idempotencyKey'], detail: `must have 1 to ${KEY_LENGTH} characters` }],
    })
  return key
}

/** Somebody has scheduled an action of their own under the very key that this email would have. */
function explainTaken(error: unknown): never {
  throw isKeyTaken(error) ? mismatch() : error
}

const mismatch = () =>
  new PostriderError(
    'idempotency_mismatch',
    'This idempotency key was used before with another content. Use a new key for a new email.',
  )

async function replay(sql: Sql, workspaceId: string, key: string, fingerprint: string): Promise<SendResult> {
  const known = await findIdempotencyKey(sql, workspaceId, key)
  if (!known || known.fingerprint !== fingerprint) throw mismatch()
  if (known.answer) return { ...(known.answer as unknown as Omit<SendResult, 'replayed'>), replayed: true }
  const emails = await readStatuses(
    sql,
    workspaceId,
    known.emailIds.map((id) => ({ id, status: 'sending' })),
  )
  if (emails.some(({ status }) => status === 'sending'))
    throw new PostriderError(
      'idempotency_in_flight',
      'The first call with this idempotency key is still sending. Ask again in a moment.',
    )
  return { emails, refused: [], replayed: true }
}

async function readStatuses(sql: Sql, workspaceId: string, emails: readonly SentEmail[]): Promise<SentEmail[]> {
  const statuses = await readEmailStatuses(
    sql,
    workspaceId,
    emails.map(({ id }) => id),
  )
  return emails.map(({ id, status }) => ({ id, status: statuses.get(id) ?? status }))
}

/** Of what was asked for, however its fields were ordered. */
const fingerprintOf = (inputs: readonly NewEmail[]) =>
  createHash('sha256').update(JSON.stringify(inputs, sortKeys)).digest('hex')

const sortKeys = (_: string, value: unknown): unknown =>
  value instanceof Uint8Array
    ? Buffer.from(value).toString('base64')
    : value && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value

function logAccepted({ log }: Context, emails: readonly PreparedEmail[]): void {
  for (const { id, deliveries, scheduledAt, lease } of emails)
    log.info(
      { email: id, recipients: deliveries.length, ...(scheduledAt && { scheduledAt }), ...(lease && { inline: true }) },
      'accepted',
    )
}
