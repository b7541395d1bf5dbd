import {
  type Campaign,
  type CampaignFields,
  deleteDraft,
  findCampaign,
  insertCampaign,
  updateDraft,
} from '../db/campaigns.js'
import { findList } from '../db/lists.js'
import { findSender } from '../db/senders.js'
import { findTemplate } from '../db/templates.js'
import { parseMailbox } from '../domain/address.js'
import { BATCH_SIZES } from '../domain/campaign.js'
import { type Problem, PostriderError } from '../errors.js'
import { newId, showId } from '../id.js'
import type { Context } from './context.js'

/** Drafts: what a campaign is before it is launched. */
export interface CampaignInput {
  readonly name?: string
  readonly listId?: string
  readonly templateId?: string
  /** Absent: the default sender. */
  readonly senderId?: string
  readonly replyTo?: string | null
  readonly batchSize?: number
  readonly hourlyLimit?: number | null
  readonly followPace?: boolean
  readonly scheduledAt?: Date | null
  readonly expiresAt?: Date | null
}

export async function createCampaign(context: Context, workspaceId: string, input: CampaignInput): Promise<Campaign> {
  const fields = await readFields(context, workspaceId, input, null)
  return insertCampaign(context.db, workspaceId, newId(), fields)
}

export async function changeCampaign(
  context: Context,
  workspaceId: string,
  id: string,
  input: CampaignInput,
): Promise<Campaign> {
  const known = await getCampaign(context, workspaceId, id)
  const fields = await readFields(context, workspaceId, input, known)
  const changed = await updateDraft(context.db, workspaceId, id, fields)
  if (!changed) throw notADraft(await getCampaign(context, workspaceId, id), 'changed')
  return changed
}

export async function removeCampaign(context: Context, workspaceId: string, id: string): Promise<void> {
  const known = await getCampaign(context, workspaceId, id)
  if (!(await deleteDraft(context.db, workspaceId, id))) throw notADraft(known, 'removed')
}

export async function getCampaign(context: Context, workspaceId: string, id: string): Promise<Campaign> {
  const found = await findCampaign(context.db, workspaceId, id)
  if (!found) throw campaignNotFound()
  return found
}

export const campaignNotFound = () => new PostriderError('campaign_not_found', 'There is no such campaign.')

const notADraft = ({ id, status }: Campaign, what: string) =>
  new PostriderError(
    'campaign_conflict',
    `Campaign ${showId('cmp', id)} is ${status}; only a draft can be ${what}.${status === 'sent' || status === 'canceled' ? '' : ' Cancel it to end it.'}`,
  )

async function readFields(
  context: Context,
  workspaceId: string,
  input: CampaignInput,
  known: Campaign | null,
): Promise<CampaignFields> {
  const { db } = context
  const problems: Problem[] = []
  const refuse = (name: string, detail: string) => void problems.push({ path: [name], detail })
  const name = input.name ?? known?.name ?? ''
  if (name.trim() === '' || name.length > 200 || /[\p{Cc}\u2028\u2029]/u.test(name))
    refuse('name', 'must have 1 to 200 characters on one line')
  const listId = input.listId ?? known?.listId ?? ''
  if (!listId) refuse('listId', 'is needed')
  else if (!(await findList(db, workspaceId, listId))) refuse('listId', 'is not a list of this workspace')
  const templateId = input.templateId ?? known?.templateId ?? ''
  if (!templateId) refuse('templateId', 'is needed')
  else if (!(await findTemplate(db, workspaceId, templateId)))
    refuse('templateId', 'is not a template of this workspace')
  const senderId = input.senderId ?? known?.senderId ?? (await defaultSender(context, workspaceId))
  if (!senderId || !(await findSender(db, workspaceId, senderId)))
    refuse('senderId', 'is not a sender of this workspace')
  const replyTo = input.replyTo === undefined ? (known?.replyTo ?? null) : input.replyTo
  if (replyTo !== null && !parseMailbox(replyTo)) refuse('replyTo', 'must be one address, such as ada@example.com')
  const batchSize = input.batchSize ?? known?.batchSize ?? context.batchSize
  const { least, most } = BATCH_SIZES
  if (!Number.isInteger(batchSize) || batchSize < least || batchSize > most)
    refuse('batchSize', `must be a whole number from ${least} to ${most}`)
  const hourlyLimit = input.hourlyLimit === undefined ? (known?.hourlyLimit ?? null) : input.hourlyLimit
  if (hourlyLimit !== null && (!Number.isInteger(hourlyLimit) || hourlyLimit < 1 || hourlyLimit > 2_147_483_647))
    refuse('hourlyLimit', 'must be a whole number from 1, or null for none')
  const scheduledAt = input.scheduledAt === undefined ? (known?.scheduledAt ?? null) : input.scheduledAt
  const expiresAt = input.expiresAt === undefined ? (known?.expiresAt ?? null) : input.expiresAt
  if (scheduledAt && expiresAt && expiresAt <= scheduledAt) refuse('expiresAt', 'must be later than the scheduled time')
  if (problems.length > 0)
    throw new PostriderError(
      'campaign_invalid',
      `The campaign cannot be kept: ${problems.map(({ path, detail }) => `${path.join('.')} ${detail}`).join('; ')}.`,
      { problems },
    )
  const followPace = input.followPace ?? known?.followPace ?? false
  return { name, listId, templateId, senderId, replyTo, batchSize, hourlyLimit, followPace, scheduledAt, expiresAt }
}

const defaultSender = async (context: Context, workspaceId: string) =>
  (await context.sendersOf(workspaceId)).find(({ isDefault }) => isDefault)?.id ?? ''
