import type { Campaign } from '../db/campaigns.js'
import type { CampaignStatus } from '../domain/campaign.js'
import { getCampaign } from './campaigns.js'
import type { Context } from './context.js'
import { launchCampaign, type Launched, summarize } from './launch-campaign.js'
import { enrollJoined, type Patience } from './launch-sequence.js'

const TAKING: readonly CampaignStatus[] = ['running', 'paused', 'sent']

/** Of a sequence, launched, and not canceled: whoever joins its list can still be enrolled. */
export const takesPeople = ({ sequenceId, status }: Campaign): boolean => sequenceId !== null && TAKING.includes(status)

/**
 * Launches a draft, now or at a time. A campaign of a sequence that was launched looks at its list once more instead:
 * whoever joined since is enrolled, and nobody a second time.
 */
export async function scheduleCampaign(
  context: Context,
  workspaceId: string,
  id: string,
  when: { readonly scheduledAt?: Date | null } & Patience = {},
): Promise<Launched> {
  const campaign = await getCampaign(context, workspaceId, id)
  if (when.scheduledAt || !takesPeople(campaign)) return launchCampaign(context, workspaceId, id, when)
  const enrolled = await enrollJoined(context, workspaceId, campaign, { withinMs: when.withinMs })
  return { campaign: await getCampaign(context, workspaceId, id), ...summarize(enrolled) }
}
