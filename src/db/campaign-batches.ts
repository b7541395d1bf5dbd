import { campaignBatchKey } from '../domain/keys.js'
import type { Campaign } from './campaigns.js'
import type { Sql } from './client.js'
import { scheduleActions } from './schedule-actions.js'

/**
 * Sees to it that a campaign's batch action is under way: schedules it, or brings it back when it is over or has failed.
 * The key is the same for ever, so whatever happens at once, there is one. Called under `lockCampaign`.
 */
export async function startBatches(tx: Sql, { id, workspaceId }: Campaign, runAt?: Date): Promise<void> {
  const dedupeKey = campaignBatchKey(id)
  await tx.query(
    `delete from postrider.scheduled_actions where workspace_id = $1 and dedupe_key = $2 and state in ('done', 'failed')`,
    [workspaceId, dedupeKey],
  )
  await scheduleActions(tx, workspaceId, [{ type: 'batch', laneId: id, dedupeKey, ...(runAt && { runAt }) }])
}
