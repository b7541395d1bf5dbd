import { lockCampaignsOfEmails } from '../db/campaigns.js'
import { DECIDABLE, decideEmails, type EmailDecision } from '../db/decide-emails.js'
import { type Email, findEmail } from '../db/emails.js'
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
  if (changed.length === 0) throw new PostriderError('email_conflict', describeConflict(id, email.status, decision))
  context.log.info({ email: id, decision, by: options.by }, 'decided')
  context.wake()
  return email
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

export const describeConflict = (id: string, status: string, decision: EmailDecision): string =>
  `Email ${showId('em', id)} is ${status}; ${WORDS[decision]} needs ${DECIDABLE[decision].join(' or ')}.`
