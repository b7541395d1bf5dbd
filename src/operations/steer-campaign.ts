import { startBatches } from '../db/campaign-batches.js'
import { type Campaign, findCampaignsOfPending, lockCampaign, setStatus } from '../db/campaigns.js'
import type { Sql } from '../db/client.js'
import { lockOpenEnrollments, stopEnrollmentsOf } from '../db/enrollments.js'
import { findBookingsOfLane, giveBackBookings } from '../db/give-back-bookings.js'
import { cancelLane, pauseLane, resumeLane } from '../db/lanes.js'
import { retryFailedEmails } from '../db/retry-campaign.js'
import type { CampaignStatus } from '../domain/campaign.js'
import { PostriderError } from '../errors.js'
import { showId } from '../id.js'
import { campaignNotFound } from './campaigns.js'
import type { Context } from './context.js'

/**
 * Pausing, resuming and cancelling are a row of the campaign and a row of its lane, however many emails it has: claiming
 * passes over the lane, and arming asks it again, so what was queued already is held as well.
 */
export const pauseCampaign = (context: Context, workspaceId: string, id: string): Promise<Campaign> =>
  steer(context, workspaceId, id, 'paused', ['scheduled', 'running'], async (tx, campaign) => {
    await pauseLane(tx, workspaceId, id)
    return setStatus(tx, campaign, 'paused')
  })

export const resumeCampaign = (context: Context, workspaceId: string, id: string): Promise<Campaign> =>
  steer(context, workspaceId, id, 'resumed', ['paused'], async (tx, campaign) => {
    await resumeLane(tx, workspaceId, id)
    await startBatches(tx, campaign, campaign.startedAt ? undefined : (campaign.scheduledAt ?? undefined))
    return setStatus(tx, campaign, campaign.startedAt ? 'running' : 'scheduled')
  })

export const cancelCampaign = (context: Context, workspaceId: string, id: string): Promise<Campaign> =>
  steer(
    context,
    workspaceId,
    id,
    'canceled',
    ['scheduled', 'running', 'paused'],
    async (tx, campaign) => {
      await cancelLane(tx, workspaceId, id)
      if (campaign.sequenceId !== null) {
        await stopEnrollmentsOf(tx, id, { code: 'canceled', reason: 'The campaign was canceled.' })
        await giveBackBookings(tx, await findBookingsOfLane(tx, id))
      }
      return setStatus(tx, campaign, 'canceled')
    },
    // Whoever walks holds the enrollment before the campaign: in the other order the two would wait for each other.
    (tx) => lockOpenEnrollments(tx, workspaceId, id),
  )

/** Everything that failed starts over: the emails, and the planning if it was that. Returns how many emails. */
export async function retryCampaign(
  context: Context,
  workspaceId: string,
  id: string,
  by: string,
): Promise<{ readonly campaign: Campaign; readonly retried: number }> {
  let retried = 0
  const campaign = await steer(
    context,
    workspaceId,
    id,
    'retried',
    ['running', 'paused', 'sent'],
    async (tx, locked) => {
      retried = await retryFailedEmails(tx, locked, by)
      await startBatches(tx, locked)
      return locked.status === 'sent' && retried > 0 ? setStatus(tx, locked, 'running') : locked
    },
  )
  return { campaign, retried }
}

/** Emails of these campaigns were sent again one by one: a campaign that was over is under way again. */
export async function reopenCampaigns(tx: Sql, workspaceId: string, emailIds: readonly string[]): Promise<void> {
  for (const id of await findCampaignsOfPending(tx, workspaceId, emailIds)) {
    const campaign = await lockCampaign(tx, workspaceId, id)
    if (campaign?.status !== 'sent') continue
    await startBatches(tx, campaign)
    await setStatus(tx, campaign, 'running')
  }
}

async function steer(
  context: Context,
  workspaceId: string,
  id: string,
  what: string,
  from: readonly CampaignStatus[],
  change: (tx: Sql, campaign: Campaign) => Promise<Campaign>,
  before: (tx: Sql) => Promise<void> = async () => {},
): Promise<Campaign> {
  const changed = await context.db.transaction(async (tx) => {
    await before(tx)
    const campaign = await lockCampaign(tx, workspaceId, id)
    if (!campaign) throw campaignNotFound()
    if (!from.includes(campaign.status))
      throw new PostriderError(
        'campaign_conflict',
        `Campaign ${showId('cmp', id)} is ${campaign.status}; to be ${what} it must be ${from.join(' or ')}.`,
      )
    return change(tx, campaign)
  })
  context.log.info({ campaign: id, status: changed.status }, `campaign ${what}`)
  context.wake()
  return changed
}
