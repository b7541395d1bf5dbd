import { newId } from '../id.js'
import type { Campaign } from './campaigns.js'
import { RELAXED_COMMIT, type Sql } from './client.js'
import { hintActions } from './hint-actions.js'

/**
 * Plans the next people of a campaign's list with one statement, whatever their number: their emails, the hints of those
 * emails, the campaign's cursor and counts.
 *
 * The page is taken by value, `contact_id > last_cursor`, so that contacts that come or go meanwhile move nobody to a
 * page that has been read already or is never read. The unique key of an email decides about duplicates, not a look-up
 * before it. Who opted out and who is suppressed is asked by the addresses of the page: as joins, the planner may choose
 * to read those whole tables for every batch.
 *
 * Assumes that the caller holds the campaign's row (lockCampaign) and that its action was completed in the same
 * transaction: so of two that would plan at once one waits and then finds the other's cursor. A crash before the commit
 * leaves nothing; after it, cursor and emails are both there. The transaction does not wait for the disk: what a crash of
 * the server takes with it was not sent to anybody, because arming waits, and is planned again.
 */
export interface PlannedBatch {
  /** People looked at; fewer than asked for means that the list is at its end. */
  readonly looked: number
  readonly planned: number
  readonly unsubscribed: number
  readonly suppressed: number
  readonly at: Date
}

const plan = (now: string) => `
  with ${RELAXED_COMMIT}, page as materialized (
    select contact_id, row_number() over (order by contact_id) as place
    from (select contact_id from postrider.list_members
          where list_id = $3 and contact_id > $4 order by contact_id limit $5) members
  ), people as materialized (
    select contact_id, place, address, folded_address
    from page join postrider.contacts on contacts.id = contact_id
  ), opted_out as materialized (
    select address from postrider.opt_outs
    where list_id = $3 and address = any (array(select folded_address from people))
  ), banned as materialized (
    select address from postrider.suppressions
    where workspace_id = $1 and address = any (array(select folded_address from people))
  ), judged as materialized (
    select *, folded_address in (select address from opted_out) as unsubscribed,
      folded_address in (select address from banned) as suppressed
    from people
  ), inserted as (
    insert into postrider.scheduled_actions (id, workspace_id, lane_id, type, dedupe_key, run_at, expires_at, payload,
      retry_policy, message_id, contact_id, booked_on, created_at, state_at)
    select id, $1, $2, 'send', 'campaign:' || $2::uuid || ':' || contact_id, ${now}, $7,
      jsonb_build_object('contact', contact_id, 'recipient', address), 'standard', id, contact_id, $8, ${now}, ${now}
    from (select *, ($6::uuid[])[place] as id from judged where not unsubscribed and not suppressed) chosen
    on conflict (workspace_id, dedupe_key) do nothing
    returning lane_id, run_at, id
  ), hinted as (${hintActions('select lane_id, run_at, id from inserted')}
  ), counted as (
    select (select count(*)::int from page) as looked, (select count(*)::int from inserted) as planned,
      count(*) filter (where unsubscribed)::int as unsubscribed,
      count(*) filter (where suppressed and not unsubscribed)::int as suppressed,
      (select contact_id from page order by place desc limit 1) as last
    from judged
  ), moved as (
    update postrider.campaigns set last_cursor = coalesce(counted.last, last_cursor), last_batch_at = ${now},
      planned = campaigns.planned + counted.planned, unsubscribed = campaigns.unsubscribed + counted.unsubscribed,
      suppressed = campaigns.suppressed + counted.suppressed,
      planned_at = case when counted.looked < $5 then ${now} end
    from counted where id = $2 and workspace_id = $1
  )
  select looked, planned, unsubscribed, suppressed, ${now} as at from counted, relaxed`

const FIRST_CONTACT = '00000000-0000-0000-0000-000000000000'

export async function planCampaignBatch(
  tx: Sql,
  campaign: Campaign,
  { size, bookedOn }: { size: number; bookedOn: string | null },
): Promise<PlannedBatch> {
  const { rows } = await tx.query<PlannedBatch>(
    plan(tx.now),
    [
      campaign.workspaceId,
      campaign.id,
      campaign.listId,
      campaign.lastCursor ?? FIRST_CONTACT,
      size,
      Array.from({ length: size }, newId),
      campaign.expiresAt,
      bookedOn,
    ],
    { name: 'plan campaign batch' },
  )
  return rows[0]!
}
