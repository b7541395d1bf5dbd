import { tallyFailures } from '../db/campaign-failures.js'
import { type FailureGroup, groupFailures } from '../domain/group-failures.js'
import { getCampaign } from './campaigns.js'
import type { Context } from './context.js'

/** So many are looked at: enough to know what is going on, and few enough to be told at once. */
const LOOKED_AT = 5_000

export interface CampaignFailures {
  readonly groups: readonly FailureGroup[]
  /** How many were looked at. */
  readonly emails: number
  /** There may be more. */
  readonly truncated: boolean
}

/** Why emails of a campaign failed for good, for all that are failed now. */
export async function readCampaignFailures(
  context: Context,
  workspaceId: string,
  id: string,
): Promise<CampaignFailures> {
  const campaign = await getCampaign(context, workspaceId, id)
  const groups = groupFailures(await tallyFailures(context.db, campaign.id, LOOKED_AT))
  const emails = groups.reduce((sum, group) => sum + group.emails, 0)
  return { groups, emails, truncated: emails === LOOKED_AT }
}
