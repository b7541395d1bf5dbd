import type { CampaignStatus } from '../domain/campaign.js'
import type { Mailbox } from '../domain/message.js'
import { isId } from '../id.js'
import type { Sql } from './client.js'

export interface Campaign {
  readonly id: string
  readonly workspaceId: string
  readonly name: string
  readonly status: CampaignStatus
  readonly listId: string
  /** For a bulk campaign; one of a sequence has that instead. */
  readonly templateId: string | null
  /** Frozen at launch. */
  readonly templateVersion: number | null
  readonly sequenceId: string | null
  /** Frozen at launch. */
  readonly sequenceVersion: number | null
  /** For a sequence, the first of its senders. */
  readonly senderId: string
  /** As whom it goes out; frozen at launch. */
  readonly fromName: string | null
  readonly fromAddress: string | null
  readonly replyTo: string | null
  readonly batchSize: number
  readonly hourlyLimit: number | null
  readonly followPace: boolean
  readonly scheduledAt: Date | null
  readonly expiresAt: Date | null
  readonly lastCursor: string | null
  readonly lastBatchAt: Date | null
  readonly plannedAt: Date | null
  readonly planned: number
  readonly unsubscribed: number
  readonly suppressed: number
  readonly enrolledBefore: number
  readonly sampledAt: Date | null
  readonly sampledSent: number
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** What people choose. */
export type CampaignFields = Pick<
  Campaign,
  | 'name'
  | 'listId'
  | 'templateId'
  | 'sequenceId'
  | 'senderId'
  | 'replyTo'
  | 'batchSize'
  | 'hourlyLimit'
  | 'followPace'
  | 'scheduledAt'
  | 'expiresAt'
>

export const CAMPAIGN_COLUMNS = `id, workspace_id as "workspaceId", name, status, list_id as "listId", template_id as "templateId",
  template_version as "templateVersion", sequence_id as "sequenceId", sequence_version as "sequenceVersion", sender_id as "senderId", from_name as "fromName",
  from_address as "fromAddress", reply_to as "replyTo", batch_size as "batchSize",
  hourly_limit as "hourlyLimit", follow_pace as "followPace", scheduled_at as "scheduledAt", expires_at as "expiresAt",
  last_cursor as "lastCursor", last_batch_at as "lastBatchAt", planned_at as "plannedAt", planned, unsubscribed,
  suppressed, enrolled_before as "enrolledBefore", sampled_at as "sampledAt", sampled_sent as "sampledSent", started_at as "startedAt",
  finished_at as "finishedAt", created_at as "createdAt", updated_at as "updatedAt"`

const CHOSEN = `name, list_id, template_id, sequence_id, sender_id, reply_to, batch_size, hourly_limit, follow_pace, scheduled_at, expires_at`
const chosen = (fields: CampaignFields) => [
  fields.name,
  fields.listId,
  fields.templateId,
  fields.sequenceId,
  fields.senderId,
  fields.replyTo,
  fields.batchSize,
  fields.hourlyLimit,
  fields.followPace,
  fields.scheduledAt,
  fields.expiresAt,
]

export async function insertCampaign(
  sql: Sql,
  workspaceId: string,
  id: string,
  fields: CampaignFields,
): Promise<Campaign> {
  const { rows } = await sql.query<Campaign>(
    `insert into postrider.campaigns (id, workspace_id, ${CHOSEN}, created_at, updated_at)
     values ($2, $1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, ${sql.now}, ${sql.now}) returning ${CAMPAIGN_COLUMNS}`,
    [workspaceId, id, ...chosen(fields)],
  )
  return rows[0]!
}

/** Null when there is no such draft: what was launched is not changed any more. */
export async function updateDraft(
  sql: Sql,
  workspaceId: string,
  id: string,
  fields: CampaignFields,
): Promise<Campaign | null> {
  const { rows } = await sql.query<Campaign>(
    `update postrider.campaigns set (${CHOSEN}, updated_at) = ($3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, ${sql.now})
     where workspace_id = $1 and id = $2 and status = 'draft' returning ${CAMPAIGN_COLUMNS}`,
    [workspaceId, id, ...chosen(fields)],
  )
  return rows[0] ?? null
}

export async function findCampaign(sql: Sql, workspaceId: string, id: string): Promise<Campaign | null> {
  return find(sql, workspaceId, id, '')
}

/** Whoever changes what a campaign is doing holds its row: people and its batch wait for each other. */
export async function lockCampaign(tx: Sql, workspaceId: string, id: string): Promise<Campaign | null> {
  return find(tx, workspaceId, id, 'for update')
}

async function find(sql: Sql, workspaceId: string, id: string, lock: string): Promise<Campaign | null> {
  if (!isId(id)) return null
  const { rows } = await sql.query<Campaign>(
    `select ${CAMPAIGN_COLUMNS} from postrider.campaigns where workspace_id = $1 and id = $2 ${lock}`,
    [workspaceId, id],
    { name: `find campaign ${lock}` },
  )
  return rows[0] ?? null
}

/** Newest first: a name may be used again and again. */
export async function findCampaignsByName(
  sql: Sql,
  workspaceId: string,
  name: string,
  limit: number,
): Promise<Campaign[]> {
  const { rows } = await sql.query<Campaign>(
    `select ${CAMPAIGN_COLUMNS} from postrider.campaigns where workspace_id = $1 and name = $2 order by id desc limit $3`,
    [workspaceId, name, limit],
  )
  return rows
}

export interface CampaignFilter {
  readonly status?: CampaignStatus
  readonly listId?: string
  readonly sequenceId?: string
}

/** Newest first. */
export async function listCampaigns(
  sql: Sql,
  workspaceId: string,
  { status, listId, sequenceId }: CampaignFilter,
  { limit, after, before }: { readonly limit: number; readonly after?: string; readonly before?: string },
): Promise<Campaign[]> {
  const { rows } = await sql.query<Campaign>(
    `select ${CAMPAIGN_COLUMNS} from postrider.campaigns
     where workspace_id = $1 and ($2::text is null or status = $2) and ($3::uuid is null or list_id = $3)
       and ($7::uuid is null or sequence_id = $7) and ($4::uuid is null or id < $4) and ($5::uuid is null or id > $5)
     order by id ${before === undefined ? 'desc' : 'asc'} limit $6`,
    [workspaceId, status ?? null, listId ?? null, after ?? null, before ?? null, limit, sequenceId ?? null],
  )
  return before === undefined ? rows : rows.toReversed()
}

/** Launched and not over, those that run first, newest first. */
export async function listCampaignsUnderWay(sql: Sql, workspaceId: string, limit: number): Promise<Campaign[]> {
  const { rows } = await sql.query<Campaign>(
    `select ${CAMPAIGN_COLUMNS} from postrider.campaigns
     where workspace_id = $1 and status in ('running', 'paused', 'scheduled')
     order by array_position(array['running', 'paused', 'scheduled'], status), id desc limit $2`,
    [workspaceId, limit],
  )
  return rows
}

/** Drafts only: the emails of the others still speak of their campaign. */
export async function deleteDraft(sql: Sql, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    `delete from postrider.campaigns where workspace_id = $1 and id = $2 and status = 'draft'`,
    [workspaceId, id],
  )
  return rowCount === 1
}

/** Freezes what goes out and as whom: the newest version of the template or the sequence, and the sender. Called under `lockCampaign`. */
export async function launch(
  tx: Sql,
  { id, workspaceId }: Campaign,
  {
    templateVersion = null,
    sequenceVersion = null,
    from,
    scheduledAt,
  }: {
    readonly templateVersion?: number | null
    readonly sequenceVersion?: number | null
    readonly from: Mailbox
    readonly scheduledAt: Date | null
  },
): Promise<Campaign> {
  const { rows } = await tx.query<Campaign>(
    `update postrider.campaigns set template_version = $3, sequence_version = $7, scheduled_at = $4, from_name = $5, from_address = $6, updated_at = ${tx.now},
       status = case when $4::timestamptz > ${tx.now} then 'scheduled' else 'running' end,
       started_at = case when $4::timestamptz > ${tx.now} then null else ${tx.now} end
     where workspace_id = $1 and id = $2 returning ${CAMPAIGN_COLUMNS}`,
    [workspaceId, id, templateVersion, scheduledAt, from.name, from.address, sequenceVersion],
  )
  return rows[0]!
}

/** Called under `lockCampaign`. */
export async function setStatus(tx: Sql, { id, workspaceId }: Campaign, status: CampaignStatus): Promise<Campaign> {
  const over = status === 'sent' || status === 'canceled'
  const { rows } = await tx.query<Campaign>(
    `update postrider.campaigns set status = $3, updated_at = ${tx.now},
       finished_at = case when $4 then ${tx.now} end,
       started_at = case when $3 = 'running' then coalesce(started_at, ${tx.now}) else started_at end,
       -- A rate measured across a pause would be nobody's rate.
       sampled_at = case when $3 = status then sampled_at end
     where workspace_id = $1 and id = $2 returning ${CAMPAIGN_COLUMNS}`,
    [workspaceId, id, status, over],
  )
  return rows[0]!
}

/** People looked at, of a campaign of a sequence: `planned` are those enrolled. Called under `lockCampaign`. */
export async function countEnrolled(
  tx: Sql,
  { id, workspaceId }: Campaign,
  counts: {
    readonly enrolled: number
    readonly unsubscribed: number
    readonly suppressed: number
    readonly enrolledBefore: number
  },
): Promise<void> {
  await tx.query(
    `update postrider.campaigns set planned = planned + $3, unsubscribed = unsubscribed + $4,
       suppressed = suppressed + $5, enrolled_before = enrolled_before + $6, last_batch_at = ${tx.now}
     where workspace_id = $1 and id = $2`,
    [workspaceId, id, counts.enrolled, counts.unsubscribed, counts.suppressed, counts.enrolledBefore],
  )
}

/** The names of some campaigns that go out as a sender. */
export async function findCampaignsOfSender(sql: Sql, workspaceId: string, senderId: string): Promise<string[]> {
  const { rows } = await sql.query<{ name: string }>(
    `select name from postrider.campaigns
     where workspace_id = $1 and (sender_id = $2 or id in (
       select campaign_id from postrider.campaign_senders where sender_id = $2)) order by id desc limit 3`,
    [workspaceId, senderId],
  )
  return rows.map(({ name }) => name)
}

/**
 * Whoever sends emails of campaigns again holds those campaigns first, as whoever retries a whole campaign does: in the
 * other order the two would wait for each other.
 */
export async function lockCampaignsOfEmails(tx: Sql, workspaceId: string, emailIds: readonly string[]): Promise<void> {
  await tx.query(
    `select id from postrider.campaigns where workspace_id = $1 and id in (
       select lane_id from postrider.scheduled_actions
       where workspace_id = $1 and id = any ($2::uuid[]) and contact_id is not null)
     order by id for update`,
    [workspaceId, emailIds],
  )
}

/** The campaigns of those of the emails that are pending (again). */
export async function findCampaignsOfPending(
  sql: Sql,
  workspaceId: string,
  emailIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `select distinct lane_id as id from postrider.scheduled_actions
     where workspace_id = $1 and id = any ($2::uuid[]) and contact_id is not null and state = 'pending'
     order by id`,
    [workspaceId, emailIds],
  )
  return rows.map(({ id }) => id)
}
