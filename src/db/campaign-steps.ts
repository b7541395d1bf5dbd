import type { Mailbox } from '../domain/message.js'
import type { Sql } from './client.js'

/** What the emails of a sequence's campaign are made of, and as whom they go out. Frozen at launch. */
export interface CampaignStep {
  readonly nodeId: string
  readonly stepNumber: number
  readonly templateId: string
  readonly templateVersion: number
  readonly subject: string | null
  readonly reply: boolean
}

export interface CampaignSender {
  readonly senderId: string
  readonly fromName: string | null
  readonly fromAddress: string | null
}

/** For a draft: who it will go out as. */
export async function setCampaignSenders(tx: Sql, campaignId: string, senderIds: readonly string[]): Promise<void> {
  await tx.query(`delete from postrider.campaign_senders where campaign_id = $1 and sender_id <> all ($2::uuid[])`, [
    campaignId,
    senderIds,
  ])
  await tx.query(
    `insert into postrider.campaign_senders (campaign_id, sender_id) select $1, unnest($2::uuid[]) on conflict do nothing`,
    [campaignId, senderIds],
  )
}

export async function findCampaignSenders(sql: Sql, campaignId: string): Promise<CampaignSender[]> {
  const { rows } = await sql.query<CampaignSender>(
    `select sender_id as "senderId", from_name as "fromName", from_address as "fromAddress"
     from postrider.campaign_senders where campaign_id = $1 order by sender_id`,
    [campaignId],
  )
  return rows
}

/** The same of several campaigns. One that has none of its own is not in it. */
export async function findSendersOfCampaigns(
  sql: Sql,
  campaignIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await sql.query<{ id: string; senderIds: string[] }>(
    `select campaign_id as id, array_agg(sender_id::text order by sender_id) as "senderIds"
     from postrider.campaign_senders where campaign_id = any ($1::uuid[]) group by campaign_id`,
    [campaignIds],
  )
  return new Map(rows.map(({ id, senderIds }) => [id, senderIds]))
}

export async function freezeSenders(
  tx: Sql,
  campaignId: string,
  senders: readonly ({ readonly id: string } & Mailbox)[],
): Promise<void> {
  for (const { id, name, address } of senders)
    await tx.query(
      `update postrider.campaign_senders set from_name = $3, from_address = $4 where campaign_id = $1 and sender_id = $2`,
      [campaignId, id, name, address],
    )
}

/** The newest version of each template, as of now. Returns how many: fewer than asked for means that one was removed. */
export async function freezeSteps(
  tx: Sql,
  campaignId: string,
  steps: readonly Omit<CampaignStep, 'templateVersion'>[],
): Promise<number> {
  const { rowCount } = await tx.query(
    `insert into postrider.campaign_steps (campaign_id, node_id, step_number, template_id, template_version, subject, reply)
     select $1, "nodeId", "stepNumber", templates.id, templates.version, subject, reply
     from json_to_recordset($2::json) as row ("nodeId" text, "stepNumber" int, "templateId" uuid, subject text, reply boolean)
       join postrider.templates on templates.id = "templateId"`,
    [campaignId, JSON.stringify(steps)],
  )
  return rowCount ?? 0
}
