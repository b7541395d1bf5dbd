import { type DrizzleTransaction, joinTransaction, type QueryRunner } from './db/join-transaction.js'
import type { Email, EmailSummary } from './db/emails.js'
import type { EmailFilter } from './db/email-filter.js'
import { WAKE_CHANNEL } from './db/wake-channel.js'
import type { NewEmail } from './domain/new-email.js'
import { type Problem, PostriderError } from './errors.js'
import { readId, showId } from './id.js'
import { checkEmails, checkSendOptions } from './library-input.js'
import type { Context } from './operations/context.js'
import { decideEmail } from './operations/decide-email.js'
import { readInstant } from './operations/prepare-email.js'
import { readEmail, readEmails } from './operations/read-emails.js'
import { sendEmails, type SendOptions, type SentEmail } from './operations/send-emails.js'

/** Emails as the library's users meet them. Ids are the ones of the API: `em_…`. */
export interface Emails {
  /**
   * Durable when it resolves, then sent by workers. With `tx`, the caller's own transaction: the email exists if and
   * only if that commits. With `delivery: 'inline'`, tried at once; `status` says what came of it.
   */
  send(email: NewEmail & { readonly idempotencyKey?: string }, options?: { tx?: Transaction }): Promise<SentEmail>
  /** All or none, in one transaction. */
  sendBatch(
    emails: readonly NewEmail[],
    options?: { tx?: Transaction; idempotencyKey?: string },
  ): Promise<readonly SentEmail[]>
  get(id: string): Promise<Email | null>
  list(filter?: EmailFilter & { limit?: number; after?: string }): Promise<readonly EmailSummary[]>
  /** Throws `email_conflict` once it is on the wire. */
  cancel(id: string): Promise<Email>
  retry(id: string): Promise<Email>
  /** Refused as `email_invalid` when it expires before that. */
  reschedule(id: string, at: Date | string): Promise<Email>
  /** For an email nobody can decide about: it went out, or it is sent again. */
  resolve(id: string, outcome: 'sent' | 'resend'): Promise<Email>
}

export type Transaction = QueryRunner | DrizzleTransaction

const LIBRARY = { by: 'library' }
const PAGE = 20

export function createEmails(context: Context, workspaceId: string, deadlineMs: number): Emails {
  const send = async (emails: readonly NewEmail[], tx: Transaction | undefined, options: SendOptions) => {
    const joined = tx && joinTransaction(tx, context.db.now)
    const sent = await sendEmails(context, workspaceId, emails, { ...options, tx: joined, deadlineMs })
    // Heard when the caller commits, and never if it does not.
    if (joined) await joined.query(`notify ${WAKE_CHANNEL}`)
    return sent.emails.map(({ id, status }) => ({ id: showId('em', id), status }))
  }
  const shown = <E extends EmailSummary>(email: E): E => ({ ...email, id: showId('em', email.id) })
  const decide = async (id: string, decision: Parameters<typeof decideEmail>[3], at?: Date) =>
    shown(await decideEmail(context, workspaceId, idOf(id), decision, { ...LIBRARY, ...(at && { at }) }))

  return {
    async send({ idempotencyKey, ...email }, options = {}) {
      checkSendOptions(options, ['tx'])
      checkEmails([email], { batch: false })
      const { tx } = options
      return (await send([email], tx, { idempotencyKey }))[0]!
    },
    async sendBatch(emails, options = {}) {
      checkSendOptions(options, ['tx', 'idempotencyKey'])
      checkEmails(emails, { batch: true })
      return send(emails, options.tx, { idempotencyKey: options.idempotencyKey, batch: true })
    },
    async get(id) {
      const email = await readEmail(context, workspaceId, readId('em', id) ?? '')
      return email && shown(email)
    },
    async list({ limit = PAGE, after, ...filter } = {}) {
      const cursor = { limit, ...(after !== undefined && { after: idOf(after) }) }
      return (await readEmails(context, workspaceId, filter, cursor)).map(shown)
    },
    cancel: (id) => decide(id, 'cancel'),
    retry: (id) => decide(id, 'retry'),
    reschedule: async (id, at) => decide(id, 'reschedule', instantOf(at)),
    resolve: (id, outcome) => decide(id, outcome),
  }
}

function idOf(id: string): string {
  const known = readId('em', id)
  if (known === null) throw new PostriderError('email_not_found', `There is no email ${JSON.stringify(id)}.`)
  return known
}

function instantOf(given: Date | string): Date {
  const refuse = (path: Problem['path'], detail: string): never => {
    throw new PostriderError('email_invalid', `The new time ${detail}.`, { problems: [{ path, detail }] })
  }
  return readInstant(given, 'scheduledAt', refuse) ?? refuse(['scheduledAt'], 'is needed')
}
