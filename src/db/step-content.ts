import type { LaunchedContent } from './campaign-deliveries.js'
import type { Sql } from './client.js'

/** What is the same for all emails that a node of a launched sequence sends as one sender. It does not change any more. */
export interface StepContent extends LaunchedContent {
  /** Instead of the template's. */
  readonly ownSubject: string | null
  readonly reply: boolean
  readonly nodeId: string
}

export async function findStepContent(
  sql: Sql,
  workspaceId: string,
  { campaignId, nodeId, senderId }: { campaignId: string; nodeId: string; senderId: string },
): Promise<StepContent | null> {
  const { rows } = await sql.query<StepContent>(
    `select campaigns.id as "campaignId", campaigns.workspace_id as "workspaceId", campaigns.name as "campaignName",
       campaigns.list_id as "listId", lists.name as "listName", campaign_senders.sender_id as "senderId",
       campaign_senders.from_name as "fromName", campaign_senders.from_address as "fromAddress", reply_to as "replyTo",
       true as "followPace", versions.template_id as "templateId", versions.version as "templateVersion",
       versions.subject, html, text, step.subject as "ownSubject", step.reply, step.node_id as "nodeId"
     from postrider.campaigns join postrider.lists on lists.id = campaigns.list_id
       join postrider.campaign_steps step on step.campaign_id = campaigns.id and step.node_id = $3
       join postrider.template_versions versions
         on versions.template_id = step.template_id and versions.version = step.template_version
       join postrider.campaign_senders on campaign_senders.campaign_id = campaigns.id and campaign_senders.sender_id = $4
     where campaigns.workspace_id = $1 and campaigns.id = $2`,
    [workspaceId, campaignId, nodeId, senderId],
  )
  return rows[0] ?? null
}
