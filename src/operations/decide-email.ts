import { lockCampaignsOfEmails } from '../db/campaigns.js'
import { DECIDABLE, decideEmails, type EmailDecision } from '../db/decide-emails.js'
import { type Email, findEmail } from '../db/emails.js'
import type { EmailStatus } from '../domain/email-status.js'
import { sayInstant } from '../domain/say-instant.js'
import { PostriderError } from '../errors.js'
import { showId } from '../id.js'
import type { Context } from './context.js'
import { reopenCampaigns } from './steer-campaign.js'

/** What a person decides about one email. `by` says who, for the email's history. */
export interface Decision {
  readonly by: string
  /** For `reschedule`. */
  readonly at?: Date
}

export async function decideEmail(
  context: Context,
  workspaceId: string,
  id: string,
  decision: EmailDecision,
  options: Decision,
): Promise<Email> {
  const changed = await decideAndReopen(context, workspaceId, [id], decision, options)
  const email = await findEmail(context.db, workspaceId, id)
  if (!email) throw new PostriderError('email_not_found', 'There is no such email.')
  if (changed.length === 0) throw refusalOf(email, decision, options)
  context.log.info({ email: id, decision, by: options.by }, 'decided')
  context.wake()
  return email
}

/** What somebody asked for can be wrong in itself, as it would be of a new email, or come too late. */
function refusalOf({ id, status, expiresAt }: Email, decision: EmailDecision, { at }: Decision): PostriderError {
  if (!at || !expiresAt || expiresAt > at || !DECIDABLE[decision].includes(status))
    return new PostriderError('email_conflict', describeConflict(id, status, decision))
  const detail = `must be before the email expires, which is at ${sayInstant(expiresAt)}`
  return new PostriderError('email_invalid', `The new time ${detail}.`, {
    problems: [{ path: ['scheduledAt'], detail }],
  })
}

/** A campaign that was over is under way again once one of its emails is. */
export const decideAndReopen = (
  { db }: Context,
  workspaceId: string,
  ids: readonly string[],
  decision: EmailDecision,
  options: Decision,
): Promise<string[]> =>
  db.transaction(async (tx) => {
    const again = decision === 'retry' || decision === 'resend'
    if (again) await lockCampaignsOfEmails(tx, workspaceId, ids)
    const changed = await decideEmails(tx, workspaceId, ids, decision, options)
    if (again && changed.length > 0) await reopenCampaigns(tx, workspaceId, changed)
    return changed
  })

const WORDS: Readonly<Record<EmailDecision, string>> = {
  retry: 'retrying',
  dismiss: 'dismissing',
  sent: 'marking as sent',
  resend: 'sending again',
  cancel: 'cancelling',
  reschedule: 'rescheduling',
}

export const describeConflict = (id: string, status: EmailStatus, decision: EmailDecision): string =>
  decision === 'reschedule' && DECIDABLE.reschedule.includes(status)
    ? `Email ${showId('em', id)} expires before that time.`
    : `Email ${showId('em', id)} is ${status}; ${WORDS[decision]} needs ${DECIDABLE[decision].join(' or ')}.`
