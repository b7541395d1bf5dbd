import { countUnread } from '../db/campaign-lists.js'
import { type Progress, readProgress } from '../db/campaign-progress.js'
import type { Campaign } from '../db/campaigns.js'
import { countEnrollments } from '../db/enrollments.js'
import { findSender, type Sender } from '../db/senders.js'
import { estimateEnd, liveEmails, ratePerMinute } from '../domain/campaign.js'
import type { EnrollmentState } from '../domain/enrollment.js'
import { explainCampaign, type Standstill } from '../domain/explain-campaign.js'
import { isWithinSendingWindow, localDayOf, quotaOn } from '../domain/pace.js'
import { isId } from '../id.js'
import { campaignNotFound } from './campaigns.js'
import type { Context } from './context.js'
import { findAvailableSlot } from './find-available-slot.js'
import { findSenderDay } from '../db/sender-days.js'

/** How far a campaign is, how fast it goes, when it will be over, and why it does not move if it does not. */
export interface CampaignProgress extends Pick<Progress, 'campaign' | 'counts' | 'lastError' | 'now'> {
  readonly ratePerMinute: number | null
  readonly estimatedEnd: Date | null
  readonly standstill: Standstill | null
  /** Of a sequence: its people, and they add up to all that were looked at or are to be. */
  readonly people: CampaignPeople | null
}

export interface CampaignPeople extends Readonly<Record<EnrollmentState, number>> {
  readonly notEnrolled: number
  readonly unsubscribed: number
  readonly suppressed: number
  readonly enrolledBefore: number
}

export async function readCampaignProgress(
  context: Context,
  workspaceId: string,
  id: string,
): Promise<CampaignProgress> {
  // Beside each other: with a hundred thousand people each takes a while.
  const [progress, enrollments] = await Promise.all([
    readProgress(context.db, workspaceId, id),
    isId(id) ? countEnrollments(context.db, id) : null,
  ])
  if (!progress) throw campaignNotFound()
  const { campaign, counts, now } = progress
  const sender = await findSender(context.db, workspaceId, campaign.senderId)
  const standstill = explainCampaign({
    status: campaign.status,
    counts,
    scheduledAt: campaign.scheduledAt,
    sender,
    heldUntil: progress.lane.heldUntil,
    closed: await findClosed(context, campaign, sender, now),
    batch: progress.batch,
    hourlyLimit: campaign.hourlyLimit,
    nextAt: progress.nextAt,
    isSequence: campaign.sequenceId !== null,
    now,
  })
  const sample = campaign.sampledAt && { at: campaign.sampledAt, sent: campaign.sampledSent }
  const rate = campaign.status === 'running' ? ratePerMinute(sample, { at: now, sent: counts.sent }) : null
  const left = counts.notPlanned + liveEmails(counts)
  // Waiting for the next part of the hour is how such a campaign moves.
  const moves = campaign.status === 'running' && (!standstill || standstill.code === 'hourly_limit')
  const estimatedEnd = moves ? estimateEnd({ left, rate, hourlyLimit: campaign.hourlyLimit }, now) : null
  const people = campaign.sequenceId === null || !enrollments ? null : await countPeople(context, campaign, enrollments)
  // A sequence goes by its times, not by a rate.
  const speed = people ? { ratePerMinute: null, estimatedEnd: null } : { ratePerMinute: rate, estimatedEnd }
  return { campaign, counts, lastError: progress.lastError, now, ...speed, standstill, people }
}

async function countPeople(
  { db }: Context,
  campaign: Campaign,
  enrollments: Readonly<Record<EnrollmentState, number>>,
): Promise<CampaignPeople> {
  const { unsubscribed, suppressed, enrolledBefore } = campaign
  return { ...enrollments, notEnrolled: await countUnread(db, campaign.id), unsubscribed, suppressed, enrolledBefore }
}

/** Whether its sender's pace is what keeps it from planning more. */
async function findClosed({ db }: Context, campaign: Campaign, sender: Sender | null, now: Date) {
  if (campaign.status !== 'running' || !campaign.followPace || !sender?.pace) return null
  const { pace, rampUpFrom } = sender
  const until = async () => (await findAvailableSlot(db, sender, now)) ?? now
  if (!isWithinSendingWindow(pace, now)) return { why: 'outside_window' as const, until: await until() }
  const day = localDayOf(pace, now)
  const quota = quotaOn(pace, rampUpFrom, day)
  const { booked, sent } = await findSenderDay(db, campaign.workspaceId, sender.id, day)
  // What is booked and has not gone out yet is still moving.
  return quota !== null && booked >= quota && sent >= quota
    ? { why: 'quota_used' as const, until: await until() }
    : null
}
