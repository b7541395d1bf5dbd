import type { Sample } from '../domain/campaign.js'
import type { Campaign } from './campaigns.js'
import type { Sql } from './client.js'

/** Keeps what the campaign's rate is measured from. Called under `lockCampaign`. */
export async function sampleCampaign(tx: Sql, { id, workspaceId }: Campaign, { at, sent }: Sample): Promise<void> {
  await tx.query(
    `update postrider.campaigns set sampled_at = $3, sampled_sent = $4 where workspace_id = $1 and id = $2`,
    [workspaceId, id, at, sent],
  )
}
