import { campaignEmailKey } from '../domain/keys.js'
import type { Sql } from './client.js'

/**
 * What an unsubscribe link acts upon. The token names the list, and the list its workspace: there is no caller here
 * whose workspace could be asked for.
 */
export interface LinkedList {
  readonly workspaceId: string
  readonly name: string
  readonly optedOut: boolean
}

/** The list of a link, and whether the folded address has opted out of it; null when the list is gone. */
export async function findLinkedList(sql: Sql, listId: string, foldedAddress: string): Promise<LinkedList | null> {
  const { rows } = await sql.query<LinkedList>(
    `select workspace_id as "workspaceId", name,
       exists (select from postrider.opt_outs where list_id = lists.id and address = $2) as "optedOut"
     from postrider.lists where id = $1`,
    [listId, foldedAddress],
  )
  return rows[0] ?? null
}

/**
 * Ends what waits for somebody in the unfinished campaigns of a list: an email that is pending, or held by a worker that
 * has not armed it, is `skipped`; the worker finds out when it tries to arm. What is armed may be on the wire and stays.
 * So does what may have been taken in an earlier hand-over (`in_doubt`): the look at opt-outs just before the wire calls
 * it off. The same look catches an email that the pump plans at this very moment, from a snapshot older than the opt-out.
 *
 * By the folded address too: somebody who was deleted and imported again is another contact.
 */
export async function skipUnsubscribed(
  sql: Sql,
  workspaceId: string,
  {
    listId,
    contactId,
    foldedAddress,
  }: { readonly listId: string; readonly contactId: string; readonly foldedAddress: string },
): Promise<string[]> {
  const { rows: found } = await sql.query<{ campaignId: string; contactId: string }>(
    `select campaigns.id as "campaignId", people.id as "contactId"
     from postrider.campaigns,
       (select $3::uuid as id union
        select id from postrider.contacts where workspace_id = $1 and folded_address = $4) people
     where campaigns.workspace_id = $1 and campaigns.list_id = $2 and campaigns.status in ('scheduled', 'running', 'paused')`,
    [workspaceId, listId, contactId, foldedAddress],
  )
  const keys = found.map((each) => campaignEmailKey(each.campaignId, each.contactId))
  const { rows } = await sql.query<{ id: string }>(
    `update postrider.scheduled_actions set state = 'skipped', wake_at = null, lease_token = null,
       reason = 'They unsubscribed from the list.', reason_code = 'unsubscribed', state_at = ${sql.now}
     where workspace_id = $1 and dedupe_key = any ($2::text[]) and state in ('pending', 'leased') and not in_doubt
     returning id`,
    [workspaceId, keys],
  )
  return rows.map(({ id }) => id)
}

/** Who of the folded address, or with the id, walks a sequence in a campaign of the list. */
export async function findWalksOfList(
  sql: Sql,
  workspaceId: string,
  {
    listId,
    contactId,
    foldedAddress,
  }: { readonly listId: string; readonly contactId: string; readonly foldedAddress: string },
): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `select enrollments.id from postrider.enrollments join postrider.campaigns on campaigns.id = campaign_id
     where enrollments.workspace_id = $1 and enrollments.finished_at is null and campaigns.list_id = $2
       and contact_id in (select $3::uuid union
         select id from postrider.contacts where workspace_id = $1 and folded_address = $4)
     order by enrollments.id`,
    [workspaceId, listId, contactId, foldedAddress],
  )
  return rows.map(({ id }) => id)
}

/** The email of a campaign to somebody; null when it has been pruned. */
export async function findCampaignEmail(
  sql: Sql,
  workspaceId: string,
  campaignId: string,
  contactId: string,
): Promise<string | null> {
  const { rows } = await sql.query<{ id: string }>(
    `select coalesce(message_id, id) as id from postrider.scheduled_actions where workspace_id = $1 and dedupe_key = $2`,
    [workspaceId, campaignEmailKey(campaignId, contactId)],
  )
  return rows[0]?.id ?? null
}
