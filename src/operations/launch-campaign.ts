import { measureAudience } from '../db/campaign-audience.js'
import { startBatches } from '../db/campaign-batches.js'
import { type Campaign, launch, lockCampaign } from '../db/campaigns.js'
import { configureLane, holdLaneWith } from '../db/lanes.js'
import { findSender } from '../db/senders.js'
import { findTemplate } from '../db/templates.js'
import { BULK_LANE } from '../domain/lane.js'
import { PostriderError } from '../errors.js'
import { showId } from '../id.js'
import { campaignNotFound, getCampaign } from './campaigns.js'
import type { Context } from './context.js'
import { type EnrolledNow, enrollNow, freezeSequence, type Patience } from './launch-sequence.js'
import { preflightCampaign } from './preflight-campaign.js'

/** What a launch will do, as far as it can be said at once. */
export interface Launched {
  readonly campaign: Campaign
  readonly scheduled: number
  readonly skipped: number
  readonly errors: readonly string[]
  /** Of a sequence: people whom its turns enroll after this request. */
  readonly remaining?: number
}

/**
 * Launches a draft, now or at a time: freezes the template's version, opens the campaign's lane and schedules its batch.
 * People are planned by the batches, so a launch writes as much for a million as for one; only telling how many there are
 * takes longer for a longer list.
 */
export async function launchCampaign(
  context: Context,
  workspaceId: string,
  id: string,
  { scheduledAt: asked, ...patience }: { readonly scheduledAt?: Date | null } & Patience = {},
): Promise<Launched> {
  const draft = await getCampaign(context, workspaceId, id)
  if (draft.status !== 'draft') throw launchedAlready(draft)
  const scheduledAt = asked === undefined ? draft.scheduledAt : asked
  const preflight = await preflightCampaign(context, draft, scheduledAt)
  const errors = preflight.checks.filter(({ level }) => level === 'error')
  if (!preflight.ok)
    throw new PostriderError(
      'campaign_not_ready',
      `The campaign cannot be launched: ${errors.map(({ detail }) => detail).join(' ')}`,
      { problems: errors.map(({ check, detail }) => ({ path: [check], detail })) },
    )
  const campaign = await context.db.transaction(async (tx) => {
    const locked = await lockCampaign(tx, workspaceId, id)
    if (!locked) throw campaignNotFound()
    // Of two launches at once, the second comes here when the first has been committed.
    if (locked.status !== 'draft') throw launchedAlready(locked)
    if (locked.sequenceId !== null) return freezeSequence(tx, locked, scheduledAt)
    const template = await findTemplate(tx, workspaceId, locked.templateId ?? '')
    const sender = await findSender(tx, workspaceId, locked.senderId)
    if (!template || !sender)
      throw new PostriderError('campaign_not_ready', 'The template or the sender of the campaign was removed.')
    await configureLane(tx, workspaceId, id, BULK_LANE)
    await holdLaneWith(tx, workspaceId, id, locked.senderId)
    const from = { name: sender.name, address: sender.address }
    const launched = await launch(tx, locked, { templateVersion: template.version, from, scheduledAt })
    await startBatches(tx, launched, launched.scheduledAt ?? undefined)
    return launched
  })
  context.log.info({ campaign: id, ...(scheduledAt && { scheduledAt }) }, 'campaign launched')
  context.wake()
  if (campaign.sequenceId !== null) {
    const enrolled = await enrollFirst(context, campaign, patience)
    // With nobody to enroll it is over already.
    return { campaign: await getCampaign(context, workspaceId, id), ...enrolled }
  }
  const { members, leftOut } = await measureAudience(context.db, workspaceId, campaign.listId)
  return { campaign, scheduled: members - (leftOut ?? 0), skipped: leftOut ?? 0, errors: [] }
}

/** Emails planned, and people for whom none were. What starts later enrolls nobody yet. */
async function enrollFirst(
  context: Context,
  campaign: Campaign,
  patience: Patience,
): Promise<Omit<Launched, 'campaign'>> {
  return summarize(await enrollNow(context, campaign.workspaceId, campaign.id, patience))
}

export const summarize = ({ scheduled, unsubscribed, suppressed, enrolledBefore, errors, remaining }: EnrolledNow) => ({
  scheduled,
  skipped: unsubscribed + suppressed + enrolledBefore,
  errors,
  remaining,
})

const launchedAlready = ({ id, status }: Campaign) =>
  new PostriderError('campaign_conflict', `Campaign ${showId('cmp', id)} is ${status}; only a draft can be launched.`)
