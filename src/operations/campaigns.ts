import {
  type Campaign,
  type CampaignFields,
  deleteDraft,
  findCampaign,
  insertCampaign,
  updateDraft,
} from '../db/campaigns.js'
import { findCampaignSenders, setCampaignSenders } from '../db/campaign-steps.js'
import { findList } from '../db/lists.js'
import { findSender } from '../db/senders.js'
import { findSequence } from '../db/sequences.js'
import { findTemplate } from '../db/templates.js'
import { parseMailbox } from '../domain/address.js'
import { BATCH_SIZES } from '../domain/campaign.js'
import { sayProblems } from '../domain/say-problem.js'
import { type Problem, PostriderError } from '../errors.js'
import { newId, showId } from '../id.js'
import type { Context } from './context.js'

/** Drafts: what a campaign is before it is launched. */
export interface CampaignInput {
  readonly name?: string
  readonly listId?: string
  /** One of the two: a bulk campaign sends a template, the other walks people through a sequence. */
  readonly templateId?: string | null
  readonly sequenceId?: string | null
  /** Absent: the default sender. */
  readonly senderId?: string
  /** For a sequence: each contact gets one of them. */
  readonly senderIds?: readonly string[]
  readonly replyTo?: string | null
  readonly batchSize?: number
  readonly hourlyLimit?: number | null
  readonly followPace?: boolean
  readonly scheduledAt?: Date | null
  readonly expiresAt?: Date | null
}

export async function createCampaign(context: Context, workspaceId: string, input: CampaignInput): Promise<Campaign> {
  const { senderIds, ...fields } = await readFields(context, workspaceId, input, null)
  return context.db.transaction(async (tx) => {
    const campaign = await insertCampaign(tx, workspaceId, newId(), fields)
    if (fields.sequenceId !== null) await setCampaignSenders(tx, campaign.id, senderIds)
    return campaign
  })
}

export async function changeCampaign(
  context: Context,
  workspaceId: string,
  id: string,
  input: CampaignInput,
): Promise<Campaign> {
  const known = await getCampaign(context, workspaceId, id)
  const { senderIds, ...fields } = await readFields(context, workspaceId, input, known)
  const changed = await context.db.transaction(async (tx) => {
    const draft = await updateDraft(tx, workspaceId, id, fields)
    if (draft) await setCampaignSenders(tx, id, fields.sequenceId === null ? [] : senderIds)
    return draft
  })
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
): Promise<CampaignFields & { readonly senderIds: readonly string[] }> {
  const { db } = context
  const problems: Problem[] = []
  const refuse = (name: string, detail: string) => void problems.push({ path: [name], detail })
  const name = input.name ?? known?.name ?? ''
  if (name.trim() === '' || name.length > 200 || /[\p{Cc}\u2028\u2029]/u.test(name))
    refuse('name', 'must have 1 to 200 characters on one line')
  const listId = input.listId ?? known?.listId ?? ''
  if (!listId) refuse('listId', 'is needed')
  else if (!(await findList(db, workspaceId, listId))) refuse('listId', 'is not a list of this workspace')
  // Who names one of the two means it instead of the other.
  const templateId = input.templateId ?? (input.sequenceId ? null : (known?.templateId ?? null))
  const sequenceId = input.sequenceId ?? (input.templateId ? null : (known?.sequenceId ?? null))
  if (templateId === null && sequenceId === null) refuse('templateId', 'is needed, or a sequence')
  if (templateId !== null && sequenceId !== null) refuse('templateId', 'cannot be given together with a sequence')
  if (templateId !== null && !(await findTemplate(db, workspaceId, templateId)))
    refuse('templateId', 'is not a template of this workspace')
  if (sequenceId !== null && !(await findSequence(db, workspaceId, sequenceId)))
    refuse('sequenceId', 'is not a sequence of this workspace')
  const senderIds = await readSenders(context, workspaceId, input, known)
  const [senderId = ''] = senderIds
  if (senderIds.length === 0) refuse('senderIds', 'must name at least one sender')
  if (sequenceId === null && senderIds.length > 1) refuse('senderIds', 'can be several for a sequence only')
  for (const each of senderIds)
    if (!(await findSender(db, workspaceId, each)))
      refuse(input.senderIds ? 'senderIds' : 'senderId', 'is not a sender of this workspace')
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
    throw new PostriderError('campaign_invalid', `The campaign cannot be kept: ${sayProblems(problems)}.`, { problems })
  const followPace = input.followPace ?? known?.followPace ?? false
  const content = { name, listId, templateId, sequenceId, senderId, senderIds, replyTo }
  return { ...content, batchSize, hourlyLimit, followPace, scheduledAt, expiresAt }
}

async function readSenders(
  context: Context,
  workspaceId: string,
  input: CampaignInput,
  known: Campaign | null,
): Promise<readonly string[]> {
  if (input.senderIds) return [...new Set(input.senderIds)]
  if (input.senderId) return [input.senderId]
  if (!known) return [await defaultSender(context, workspaceId)]
  const chosen = (await findCampaignSenders(context.db, known.id)).map(({ senderId }) => senderId)
  return [...new Set([known.senderId, ...chosen])]
}

const defaultSender = async (context: Context, workspaceId: string) =>
  (await context.sendersOf(workspaceId)).find(({ isDefault }) => isDefault)?.id ?? ''
