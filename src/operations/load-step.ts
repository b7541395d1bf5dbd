import type { LoadedRecipient, RecipientRequest } from '../db/campaign-deliveries.js'
import type { Database } from '../db/client.js'
import { emailsBefore, findEnrollmentEmails } from '../db/enrollment-emails.js'
import { beginThread, findEnrollment } from '../db/enrollments.js'
import { fixDate } from '../db/fix-date.js'
import { findHold } from '../db/lanes.js'
import { readNow } from '../db/sender-days.js'
import type { Sender } from '../db/senders.js'
import { findStepContent, type StepContent } from '../db/step-content.js'
import type { LeasedAction } from '../domain/action.js'
import { foldAddress } from '../domain/address.js'
import { decideFollowUp } from '../domain/follow-up.js'
import type { CampaignRenderer } from '../templates/render-campaign-email.js'
import { dateOf, fail, type LoadedDelivery, skip, skipSuppressed, toContent } from './load-delivery.js'
import { PAUSED_WAIT_MS } from './run-timers.js'
import { takeTurn } from './take-turn.js'
import { threadEmail } from './thread-email.js'

/**
 * Looks once more at an email of a sequence just before it goes out: whether its enrollment still walks, the email before
 * it really went out long enough ago, its contact still wants it, its sender may send at this moment. Whatever says "not
 * yet" moves it without burning an attempt.
 */
export interface StepLoaderOptions {
  readonly db: Database
  readonly loadRecipient: (request: RecipientRequest) => Promise<LoadedRecipient>
  readonly findSender: (workspaceId: string, id: string) => Promise<Sender | null>
  readonly renderer: () => CampaignRenderer
  readonly random: () => number
}

/** A sender that is paused, or held back by its server, is asked about again this often. */
const HELD_WAIT_MS = 60_000
const LONGEST_WAIT_MS = 86_400_000

export function createStepLoader(options: StepLoaderOptions): (action: LeasedAction) => Promise<LoadedDelivery> {
  const { db, random } = options
  return async (action) => {
    const { workspaceId, laneId: campaignId, nodeId } = action
    const { contact: contactId, recipient, delay } = action.payload as unknown as Payload
    const enrollment = await findEnrollment(db, workspaceId, action.enrollmentId ?? '')
    if (!enrollment || nodeId === null) return fail('enrollment_missing', 'The enrollment of this email is not there.')
    if (enrollment.finishedAt) return skip('enrollment_stopped', enrollment.reason ?? 'its enrollment is over')
    if (enrollment.state === 'paused') return { kind: 'later', waitMs: PAUSED_WAIT_MS }
    const emails = await findEnrollmentEmails(db, enrollment.id)
    const earlier = emailsBefore(emails, action.id)
    const before = earlier.at(-1)
    if (before) {
      const answer = decideFollowUp(before, delay, await readNow(db))
      if (answer.kind === 'stop') return skip(answer.code, answer.reason)
      if (answer.kind === 'wait') return { kind: 'later', waitMs: Math.min(answer.waitMs, LONGEST_WAIT_MS) }
    }
    const content = await findStepContent(db, workspaceId, { campaignId, nodeId, senderId: enrollment.senderId })
    if (!content) return fail('campaign_missing', 'The campaign of this email is not there any more.')
    const { contact, unsubscribed, suppressed } = await options.loadRecipient({
      workspaceId,
      listId: content.listId,
      contactId,
      recipient: foldAddress(recipient),
      actionId: null,
    })
    if (unsubscribed) return skip('unsubscribed', 'the contact has unsubscribed from the list')
    if (suppressed) return skipSuppressed(suppressed)
    if (!contact) return skip('contact_removed', 'the contact was removed')
    const sender = await options.findSender(workspaceId, enrollment.senderId)
    if (!sender) return fail('sender_missing', 'The sender of this email was removed.')
    if (await findHold(db, sender.id)) return { kind: 'later', waitMs: HELD_WAIT_MS }
    const rendered = options
      .renderer()
      .render(
        toStepContent(content),
        { ...contact, contactId, address: recipient },
        { id: action.id, date: dateOf(action.id) },
      )
    if (!rendered.ok) return fail('template', rendered.problem)
    const turn = await takeTurn(db, sender, { actionId: action.id, leaseToken: action.leaseToken, random })
    if (turn.kind !== 'ok') return turn
    const date = await fixDate(db, { actionId: action.id, leaseToken: action.leaseToken })
    if (!date) return { kind: 'lost' }
    const message = { ...threadEmail(rendered.message, content, enrollment, earlier), date }
    if (enrollment.threadId === null || !content.reply)
      await beginThread(db, enrollment.id, action.id, rendered.message.subject)
    return { kind: 'ready', message, senderId: sender.id, inline: false, bookedOn: turn.day, keepsGap: true }
  }
}

interface Payload {
  readonly contact: string
  readonly recipient: string
  readonly delay: number
}

/** Each node has a template of its own for the cache, because its subject may be its own. */
export const toStepContent = (content: StepContent) => ({
  ...toContent(content),
  templateId: `${content.campaignId}/${content.nodeId}`,
  subject: content.ownSubject ?? content.subject,
})
