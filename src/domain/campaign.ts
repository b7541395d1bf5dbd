/**
 * The states of a campaign. `sent`: every recipient's email has come to an end (which may be `failed` or `uncertain`,
 * counted as such); retrying the failed ones makes it run again.
 */
export const CAMPAIGN_STATUSES = ['draft', 'scheduled', 'running', 'paused', 'sent', 'canceled'] as const
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number]

export const BATCH_SIZES = { least: 1, most: 10_000, default: 500 } as const
