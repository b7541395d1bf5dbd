/**
 * The states of a campaign. `sent`: every recipient's email has come to an end (which may be `failed` or `uncertain`,
 * counted as such); retrying the failed ones makes it run again.
 */
export const CAMPAIGN_STATUSES = ['draft', 'scheduled', 'running', 'paused', 'sent', 'canceled'] as const
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number]

export const BATCH_SIZES = { least: 1, most: 10_000, default: 500 } as const

/** Everybody of the audience is in exactly one of the others. */
export interface CampaignCounts {
  readonly audience: number
  /** On the list, and not looked at yet. */
  readonly notPlanned: number
  readonly scheduled: number
  readonly retryScheduled: number
  readonly sending: number
  readonly sent: number
  readonly failed: number
  readonly uncertain: number
  /** Opted out of the list, before planning or between planning and sending. */
  readonly unsubscribed: number
  readonly suppressed: number
  /** The contact was deleted between planning and sending. */
  readonly removed: number
  readonly canceled: number
  readonly expired: number
  readonly dismissed: number
}

/** Emails that were planned and are not over. */
export const liveEmails = ({ scheduled, retryScheduled, sending }: CampaignCounts): number =>
  scheduled + retryScheduled + sending

/** A rate is measured over this long at the least, and twice as long at the most. */
const RATE_WINDOW_MS = 30_000

export interface Sample {
  readonly at: Date
  readonly sent: number
}

export const isSampleOld = (sample: Sample | null, now: Date): boolean =>
  !sample || now.getTime() - sample.at.getTime() >= 2 * RATE_WINDOW_MS

/**
 * What a rate is measured from is moved along by halves: the older half of a window that became too long is forgotten,
 * as if it had gone evenly. So one instant and one number are enough, and the window is never empty.
 */
export function moveSample(sample: Sample | null, now: Sample): Sample {
  if (!sample) return now
  return {
    at: new Date((sample.at.getTime() + now.at.getTime()) / 2),
    sent: Math.round((sample.sent + now.sent) / 2),
  }
}

/** Null while too little has been seen to say. */
export function ratePerMinute(sample: Sample | null, now: Sample): number | null {
  const elapsedMs = sample ? now.at.getTime() - sample.at.getTime() : 0
  if (!sample || elapsedMs < 1_000) return null
  return ((now.sent - sample.sent) / elapsedMs) * 60_000
}

const HOUR_MS = 3_600_000

/**
 * When it will be over, if it goes on as it does. With an hourly limit never sooner than that allows: what went out in the
 * last moment says little about the hour.
 */
export function estimateEnd(
  {
    left,
    rate,
    hourlyLimit,
  }: { readonly left: number; readonly rate: number | null; readonly hourlyLimit: number | null },
  now: Date,
): Date | null {
  const allowed = hourlyLimit === null ? null : hourlyLimit / 60
  const seen = rate !== null && rate > 0 ? rate : allowed
  if (seen === null) return null
  return new Date(now.getTime() + (left / Math.min(seen, allowed ?? seen)) * 60_000)
}

/**
 * How an hourly limit is kept: a part of it every minute or so, spaced so that no hour of any beginning holds more than
 * the limit.
 */
export function spaceByHour(
  hourlyLimit: number,
  batchSize: number,
): { readonly size: number; readonly everyMs: number } {
  const size = Math.min(batchSize, Math.max(1, Math.floor(hourlyLimit / 60)))
  return { size, everyMs: HOUR_MS / Math.floor(hourlyLimit / size) }
}
