import type { Json } from '../domain/action.js'
import type { Sql } from './client.js'

/**
 * Lists whose people are enrolled in a campaign of a sequence, each read in the order of its members' ids up to a cursor.
 * Called under `lockCampaign`: of two that would enroll at once one waits, and then finds the other's cursor.
 */
export interface CampaignList {
  readonly listId: string
  readonly lastCursor: string | null
}

/** From the beginning, also if it has been read: whoever is enrolled already is skipped, whoever joined since is not. */
export async function beginList(tx: Sql, campaignId: string, listId: string): Promise<void> {
  await tx.query(
    `insert into postrider.campaign_lists (campaign_id, list_id) values ($1, $2)
     on conflict (campaign_id, list_id) do update set last_cursor = null, finished_at = null
     where campaign_lists.finished_at is not null`,
    [campaignId, listId],
  )
}

/** Null when all have been read. */
export async function findUnreadList(tx: Sql, campaignId: string): Promise<CampaignList | null> {
  const { rows } = await tx.query<CampaignList>(
    `select list_id as "listId", last_cursor as "lastCursor" from postrider.campaign_lists
     where campaign_id = $1 and finished_at is null order by list_id limit 1`,
    [campaignId],
  )
  return rows[0] ?? null
}

/** A page shorter than asked for is the last. */
export async function moveListCursor(
  tx: Sql,
  campaignId: string,
  listId: string,
  { last, finished }: { readonly last: string | null; readonly finished: boolean },
): Promise<void> {
  await tx.query(
    `update postrider.campaign_lists set last_cursor = coalesce($3, last_cursor),
       finished_at = case when $4 then ${tx.now} end
     where campaign_id = $1 and list_id = $2`,
    [campaignId, listId, last, finished],
  )
}

export interface Candidate {
  readonly id: string
  readonly address: string
  readonly name: string | null
  readonly timezone: string | null
  readonly attributes: { readonly [key: string]: Json }
  readonly unsubscribed: boolean
  readonly suppressed: boolean
}

const CANDIDATE = `contacts.id, address, name, timezone, attributes,
  exists (select 1 from postrider.opt_outs
    where list_id = any ($2::uuid[]) and opt_outs.address = folded_address) as unsubscribed,
  exists (select 1 from postrider.suppressions
    where workspace_id = $1 and suppressions.address = folded_address) as suppressed`
const FIRST_CONTACT = '00000000-0000-0000-0000-000000000000'

/** The next people of a list. Whoever opted out of it, or of the campaign's own list, is marked so. */
export async function readMembers(
  tx: Sql,
  workspaceId: string,
  { listId, lastCursor }: CampaignList,
  { ownListId, limit }: { readonly ownListId: string; readonly limit: number },
): Promise<Candidate[]> {
  const { rows } = await tx.query<Candidate>(
    `select ${CANDIDATE} from (
       select contact_id from postrider.list_members where list_id = $3 and contact_id > $4 order by contact_id limit $5
     ) page join postrider.contacts on contacts.id = contact_id order by contacts.id`,
    [workspaceId, [listId, ownListId], listId, lastCursor ?? FIRST_CONTACT, limit],
  )
  return rows
}

/** These people of the workspace, in an order of their own; those that are not there are not in the answer. */
export async function readCandidates(
  tx: Sql,
  workspaceId: string,
  ownListId: string,
  contactIds: readonly string[],
): Promise<Candidate[]> {
  const { rows } = await tx.query<Candidate>(
    `select ${CANDIDATE} from postrider.contacts
     where contacts.workspace_id = $1 and contacts.id = any ($3::uuid[]) order by contacts.id`,
    [workspaceId, [ownListId], contactIds],
  )
  return rows
}

export async function countUnread(sql: Sql, campaignId: string): Promise<number> {
  const { rows } = await sql.query<{ unread: number }>(
    `select coalesce(sum((select count(*) from postrider.list_members members
         where members.list_id = lists.list_id and contact_id > coalesce(last_cursor, '${FIRST_CONTACT}'))), 0)::int as unread
     from postrider.campaign_lists lists where campaign_id = $1 and finished_at is null`,
    [campaignId],
  )
  return rows[0]!.unread
}
