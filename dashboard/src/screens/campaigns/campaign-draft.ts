import type { Content } from '../templates/template-queries'
import type { Campaign } from './campaign-queries'

/** A campaign as it is being written: numbers are still texts, and an empty one is none. */
export interface Draft {
  readonly name: string
  readonly kind: 'bulk' | 'sequence'
  readonly listId: string
  /** Of a bulk campaign; null: it is written here. */
  readonly templateId: string | null
  readonly own: Content & { readonly name: string }
  readonly sequenceId: string
  /** None: the default sender. */
  readonly senderIds: readonly string[]
  readonly replyTo: string
  readonly followPace: boolean
  readonly hourlyLimit: string
  readonly batchSize: string
  readonly scheduledAt: string | null
  readonly expiresAt: string | null
}

const OWN: Draft['own'] = {
  name: '',
  subject: '',
  html: '<p>Hello {{ contact.name | default: "you" }},</p>\n<p>…</p>\n<p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p>\n',
  text: '',
}

export const EMPTY: Draft = {
  name: '',
  kind: 'bulk',
  listId: '',
  templateId: '',
  own: OWN,
  sequenceId: '',
  senderIds: [],
  replyTo: '',
  followPace: false,
  hourlyLimit: '',
  batchSize: '',
  scheduledAt: null,
  expiresAt: null,
}

export const draftOf = (campaign: Campaign): Draft => ({
  name: campaign.name,
  kind: campaign.sequence_id === null ? 'bulk' : 'sequence',
  listId: campaign.list_id,
  templateId: campaign.template_id ?? '',
  own: OWN,
  sequenceId: campaign.sequence_id ?? '',
  senderIds: campaign.sender_ids,
  replyTo: campaign.reply_to ?? '',
  followPace: campaign.follow_pace,
  hourlyLimit: campaign.hourly_limit === null ? '' : String(campaign.hourly_limit),
  batchSize: String(campaign.batch_size),
  scheduledAt: campaign.scheduled_at,
  expiresAt: campaign.expires_at,
})

/** As the API takes it. What is no number goes as it is: the API says what is wrong with it, in its place. */
export function toBody(draft: Draft) {
  const number = (text: string) => (text.trim() === '' ? null : Number(text.replaceAll(/[\s.,]/g, '')))
  const batchSize = number(draft.batchSize)
  return {
    name: draft.name,
    list_id: draft.listId,
    ...(draft.kind === 'bulk'
      ? {
          template_id: draft.templateId ?? '',
          ...(draft.senderIds[0] !== undefined && { sender_id: draft.senderIds[0] }),
        }
      : { sequence_id: draft.sequenceId, ...(draft.senderIds.length > 0 && { sender_ids: [...draft.senderIds] }) }),
    reply_to: draft.replyTo.trim() === '' ? null : draft.replyTo,
    follow_pace: draft.kind === 'bulk' && draft.followPace,
    hourly_limit: draft.kind === 'bulk' ? number(draft.hourlyLimit) : null,
    ...(batchSize !== null && { batch_size: batchSize }),
    scheduled_at: draft.scheduledAt,
    expires_at: draft.expiresAt,
  }
}
