import {
  findLaunchedContent,
  type LaunchedContent,
  type LoadedRecipient,
  type RecipientRequest,
} from '../db/campaign-deliveries.js'
import type { Sql } from '../db/client.js'
import type { DeliveryRequest, LoadedMessage } from '../db/deliveries.js'
import type { Sender } from '../db/senders.js'
import type { LeasedAction, Reason } from '../domain/action.js'
import { foldAddress, parseMailbox } from '../domain/address.js'
import type { Message } from '../domain/message.js'
import type { SuppressionReason } from '../domain/suppression.js'
import { instantOf } from '../id.js'
import type { CampaignContent, CampaignRenderer } from '../templates/render-campaign-email.js'
import { recheckPace } from './recheck-pace.js'

/**
 * What is to be sent for a `send` action, looked at just before the wire: the message, as it was accepted or as it is
 * rendered now from a campaign's template and a contact, or why it does not go out.
 *   skip   it must not be sent any more
 *   fail   it cannot be sent, now or later
 *   later  its sender's pace says not now
 *   lost   somebody else has it
 */
export type LoadedDelivery =
  | {
      readonly kind: 'ready'
      readonly message: Message
      readonly senderId: string
      /** The first attempt was made within the caller's request. */
      readonly inline: boolean
      /** The day of its sender's quota it counts on. */
      readonly bookedOn: string | null
      /** Its sender's next one keeps a gap after it. */
      readonly keepsGap?: true
    }
  | { readonly kind: 'skip' | 'fail'; readonly reason: Reason }
  | { readonly kind: 'later'; readonly waitMs: number }
  | { readonly kind: 'lost' }

export interface DeliveryLoaderOptions {
  readonly db: Sql
  /** All together with whoever else is about to send. */
  readonly loadMessage: (request: DeliveryRequest) => Promise<LoadedMessage | null>
  /** The same, but null also for a message with attachments. */
  readonly loadLightMessage: (request: DeliveryRequest) => Promise<LoadedMessage | null>
  readonly loadRecipient: (request: RecipientRequest) => Promise<LoadedRecipient>
  readonly findSender: (workspaceId: string, id: string) => Promise<Sender | null>
  readonly renderer: () => CampaignRenderer
  /** For emails of sequences. */
  readonly loadStep: (action: LeasedAction) => Promise<LoadedDelivery>
}

export interface DeliveryLoader {
  load(action: LeasedAction): Promise<LoadedDelivery>
  /**
   * Reads what is about to be loaded. Only single emails, of which nothing depends on the moment but whether the address
   * is suppressed, and that is as old then as the moment is away; and only light ones, or as many as are held would be
   * in memory with all their files. Of others `load` asks when it is called.
   */
  readAhead(action: LeasedAction): void
}

export function createDeliveryLoader(options: DeliveryLoaderOptions): DeliveryLoader {
  const contentOf = rememberContent(options.db)
  const ahead = new WeakMap<LeasedAction, Promise<LoadedMessage | null>>()

  const loadSingle = async (action: LeasedAction): Promise<LoadedDelivery> => {
    const loaded = (await ahead.get(action)) ?? (await options.loadMessage(toRequest(action)))
    if (!loaded) return fail('message_missing', 'The message is not there any more.')
    const { message, senderId, inline, suppressed } = loaded
    return suppressed ? skipSuppressed(suppressed) : { kind: 'ready', message, senderId, inline, bookedOn: null }
  }

  const loadOfCampaign = async (action: LeasedAction): Promise<LoadedDelivery> => {
    const { workspaceId, payload } = action
    const { contact: contactId, recipient } = payload as { contact: string; recipient: string }
    const content = await contentOf(workspaceId, action.laneId)
    if (!content) return fail('campaign_missing', 'The campaign of this email is not there any more.')
    const { contact, unsubscribed, suppressed, bookedOn } = await options.loadRecipient({
      workspaceId,
      listId: content.listId,
      contactId,
      recipient: foldAddress(recipient),
      actionId: content.followPace ? action.id : null,
    })
    if (unsubscribed) return skip('unsubscribed', 'the contact has unsubscribed from the list')
    if (suppressed) return skipSuppressed(suppressed)
    if (!contact) return skip('contact_removed', 'the contact was removed')
    const sender = await options.findSender(workspaceId, content.senderId)
    if (!sender) return fail('sender_missing', 'The sender of this email was removed.')
    const rendered = options
      .renderer()
      .render(
        toContent(content),
        { ...contact, contactId, address: recipient },
        { id: action.id, date: dateOf(action.id) },
      )
    if (!rendered.ok) return fail('template', rendered.problem)
    if (!content.followPace)
      return { kind: 'ready', message: rendered.message, senderId: sender.id, inline: false, bookedOn: null }
    const check = await recheckPace(options.db, sender, {
      actionId: action.id,
      leaseToken: action.leaseToken,
      bookedOn,
    })
    if (check.kind !== 'ok') return check
    return { kind: 'ready', message: rendered.message, senderId: sender.id, inline: false, bookedOn: check.day }
  }

  const isOfCampaign = ({ payload }: LeasedAction) => 'contact' in (payload as object)

  return {
    load(action) {
      if (action.enrollmentId !== null) return options.loadStep(action)
      return isOfCampaign(action) ? loadOfCampaign(action) : loadSingle(action)
    },
    readAhead(action) {
      if (action.enrollmentId !== null || isOfCampaign(action)) return
      // A failure now is no failure then.
      const loading = options.loadLightMessage(toRequest(action)).catch(() => null)
      ahead.set(action, loading)
    },
  }
}

function toRequest({ workspaceId, payload }: LeasedAction): DeliveryRequest {
  const { message: messageId, recipient } = payload as { message: string; recipient: string }
  return { workspaceId, messageId, recipient: foldAddress(recipient) }
}

export const toContent = (content: LaunchedContent): CampaignContent => ({
  workspaceId: content.workspaceId,
  campaignId: content.campaignId,
  campaignName: content.campaignName,
  list: { id: content.listId, name: content.listName },
  from: { name: content.fromName, address: content.fromAddress },
  replyTo: [content.replyTo].flatMap((address) => (address === null ? [] : (parseMailbox(address) ?? []))),
  templateId: content.templateId,
  templateVersion: content.templateVersion,
  subject: content.subject,
  html: content.html,
  text: content.text,
})

/** The Date of an email that is rendered when it goes out: when it was planned, which its id tells. Seconds, as on the wire. */
export const dateOf = (actionId: string): Date => new Date(Math.floor(instantOf(actionId).getTime() / 1_000) * 1_000)

const REMEMBERED = 100

/** A launched campaign does not change, so it is asked once for as long as it is among the last that were sent. */
function rememberContent(db: Sql) {
  const known = new Map<string, Promise<LaunchedContent | null>>()
  return (workspaceId: string, campaignId: string): Promise<LaunchedContent | null> => {
    const found = known.get(campaignId) ?? findLaunchedContent(db, workspaceId, campaignId)
    known.delete(campaignId)
    known.set(campaignId, found)
    found.then(
      (content) => !content && known.delete(campaignId),
      () => known.delete(campaignId),
    )
    if (known.size > REMEMBERED) known.delete(known.keys().next().value!)
    return found
  }
}

export const fail = (code: string, text: string): LoadedDelivery => ({ kind: 'fail', reason: { code, text } })
export const skip = (code: string, text: string): LoadedDelivery => ({ kind: 'skip', reason: { code, text } })
export const skipSuppressed = (reason: SuppressionReason) =>
  skip('suppressed', `the address is suppressed (${reason.replaceAll('_', ' ')})`)
