import { type CampaignCounts, type CampaignStatus, liveEmails } from './campaign.js'
import { sayInstant } from './say-instant.js'

/** Why a campaign is not moving, if it is not: a word for programs and a sentence for people. */
export interface Standstill {
  readonly code:
    | 'draft'
    | 'waiting_for_start'
    | 'paused'
    | 'canceled'
    | 'sender_paused'
    | 'sender_missing'
    | 'sender_slowed'
    | 'outside_window'
    | 'quota_used'
    | 'hourly_limit'
    | 'planning_failed'
    | 'planning_interrupted'
    | 'waiting_for_retries'
    | 'waiting_for_next'
    | 'no_worker'
  readonly text: string
  /** When it goes on by itself. */
  readonly until: Date | null
}

export interface ExplainedCampaign {
  readonly status: CampaignStatus
  readonly counts: CampaignCounts
  readonly scheduledAt: Date | null
  readonly sender: { readonly pausedReason: string | null } | null
  readonly heldUntil: Date | null
  /** Of the sender's pace, if the campaign keeps to it and it is closed at the moment. */
  readonly closed: { readonly why: 'outside_window' | 'quota_used'; readonly until: Date } | null
  readonly batch: { readonly state: string; readonly runAt: Date; readonly reason: string | null } | null
  readonly hourlyLimit: number | null
  readonly nextAt: Date | null
  readonly isSequence?: boolean
  readonly now: Date
}

/** Longer than any worker takes to notice: past this, nobody is looking. */
const UNNOTICED_MS = 30_000
/** Less is only the time between two turns. */
const INTERRUPTED_MS = 1_000

/** Null while it moves, and once it is over. */
export function explainCampaign(campaign: ExplainedCampaign): Standstill | null {
  switch (campaign.status) {
    case 'draft':
      return still('draft', 'It has not been launched.')
    case 'scheduled':
      return still(
        'waiting_for_start',
        `It starts at ${sayInstant(campaign.scheduledAt ?? campaign.now)}.`,
        campaign.scheduledAt,
      )
    case 'paused':
      return still('paused', 'Somebody paused it. Resume it to go on.')
    case 'canceled':
      return still('canceled', 'Somebody canceled it. What had not gone out by then never will.')
    case 'sent':
      return null
    case 'running':
      return explainRunning(campaign)
  }
}

function explainRunning(campaign: ExplainedCampaign): Standstill | null {
  const { sender, heldUntil, batch, closed, counts, now } = campaign
  if (!sender) return still('sender_missing', 'Its sender was removed. Cancel it, and make it again with another.')
  if (sender.pausedReason !== null)
    return still('sender_paused', `Its sender is paused: ${sender.pausedReason.replace(/[.\s]+$/, '')}.`)
  if (heldUntil && heldUntil > now)
    return still(
      'sender_slowed',
      `The mail server asked its sender to slow down until ${sayInstant(heldUntil)}.`,
      heldUntil,
    )
  if (batch?.state === 'failed')
    return still('planning_failed', `Planning failed: ${batch.reason ?? 'for a reason that was not given'}. Retry it.`)
  if (closed && (counts.notPlanned > 0 || liveEmails(counts) > 0))
    return closed.why === 'outside_window'
      ? still('outside_window', `Its sender's window opens at ${sayInstant(closed.until)}.`, closed.until)
      : still(
          'quota_used',
          `Its sender's quota of the day is used; the next is free at ${sayInstant(closed.until)}.`,
          closed.until,
        )
  if (counts.sending > 0) return null
  if (campaign.isSequence && counts.scheduled + counts.retryScheduled > 0 && campaign.nextAt && campaign.nextAt > now)
    return still('waiting_for_next', `Its next email goes out at ${sayInstant(campaign.nextAt)}.`, campaign.nextAt)
  if (campaign.isSequence && counts.scheduled + counts.retryScheduled === 0)
    return still('waiting_for_next', 'No email is planned: its people wait for an event or for a time to pass.')
  if (counts.scheduled > 0) return isUnnoticed(campaign.nextAt, now) ? nobody(campaign.nextAt!) : null
  if (!batch) return null
  if (counts.notPlanned > 0 && batch.runAt > now && campaign.hourlyLimit !== null)
    return still(
      'hourly_limit',
      `It sends ${campaign.hourlyLimit.toLocaleString('en-GB')} an hour; the next go at ${sayInstant(batch.runAt)}.`,
      batch.runAt,
    )
  if (counts.notPlanned > 0 && batch.state === 'pending' && batch.runAt.getTime() - now.getTime() > INTERRUPTED_MS)
    return still(
      'planning_interrupted',
      `${whyInterrupted(batch.reason)} It goes on at ${sayInstant(batch.runAt)}.`,
      batch.runAt,
    )
  if (counts.notPlanned === 0 && counts.retryScheduled > 0 && campaign.nextAt && campaign.nextAt > now)
    return still(
      'waiting_for_retries',
      `All have been tried; ${counts.retryScheduled.toLocaleString('en-GB')} failed for now and are tried again, the next at ${sayInstant(campaign.nextAt)}.`,
      campaign.nextAt,
    )
  return batch.state === 'pending' && isUnnoticed(batch.runAt, now) ? nobody(batch.runAt) : null
}

const isUnnoticed = (dueAt: Date | null, now: Date) => dueAt !== null && now.getTime() - dueAt.getTime() > UNNOTICED_MS

const whyInterrupted = (reason: string | null) =>
  reason === null ? 'Workers died while they planned it.' : `Planning failed for now: ${reason.replace(/[.\s]+$/, '')}.`

const nobody = (since: Date) =>
  still(
    'no_worker',
    `It has been due since ${sayInstant(since)} and no worker takes it. Is one running (postrider work)?`,
  )

const still = (code: Standstill['code'], text: string, until: Date | null = null): Standstill => ({ code, text, until })
