import type { CampaignList } from './campaign-lists.js'
import type { Campaign } from './campaigns.js'
import type { Sql } from './client.js'

/** All lists of a campaign of a sequence that are not read to their end, in the order they will be. */
export async function readUnreadLists(sql: Sql, campaignId: string): Promise<CampaignList[]> {
  const { rows } = await sql.query<CampaignList>(
    `select list_id as "listId", last_cursor as "lastCursor" from postrider.campaign_lists
     where campaign_id = $1 and finished_at is null order by list_id`,
    [campaignId],
  )
  return rows
}

/** Those of these contacts who walk the sequence or have, or who come by on one of the lists that are read before. */
export async function findEnrolledBefore(
  sql: Sql,
  sequenceId: string,
  contactIds: readonly string[],
  before: readonly CampaignList[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql.query<{ id: string }>(
    `select contact_id as id from postrider.enrollments where sequence_id = $1 and contact_id = any ($2::uuid[])
     union
     select members.contact_id from unnest($3::uuid[], $4::uuid[]) as list (id, last_cursor)
       join postrider.list_members members on members.list_id = list.id
     where members.contact_id = any ($2::uuid[]) and (last_cursor is null or members.contact_id > last_cursor)`,
    [sequenceId, contactIds, before.map(({ listId }) => listId), before.map(({ lastCursor }) => lastCursor)],
  )
  return new Set(rows.map(({ id }) => id))
}

/** People under way in a campaign, and those that are still to be enrolled; of a draft, all on its list. */
export async function countPeopleAhead(sql: Sql, { id, listId, status }: Campaign): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(
    `select (select count(*)::int from postrider.enrollments where campaign_id = $1 and finished_at is null)
       + (select count(*)::int from (
           select $2::uuid as list_id, null::uuid as last_cursor where $3
           union all select list_id, last_cursor from postrider.campaign_lists where campaign_id = $1 and finished_at is null
         ) unread join postrider.list_members members on members.list_id = unread.list_id
           and (last_cursor is null or members.contact_id > last_cursor)) as count`,
    [id, listId, status === 'draft'],
  )
  return rows[0]!.count
}
