import type { Campaign } from './campaigns.js'
import type { Sql } from './client.js'
import { NEW_EVENT_ID, START_OVER } from './decide-emails.js'
import { storable } from './storable.js'

/**
 * Starts over all emails of a campaign that failed, a page at a time, with one event for each. A page is one statement;
 * a crash between two leaves the rest failed, and doing it again goes on from there.
 */
const PAGE = 1_000

export async function retryFailedEmails(tx: Sql, { id, workspaceId }: Campaign, by: string): Promise<number> {
  let retried = 0
  for (;;) {
    const { rows } = await tx.query<{ count: number }>(
      `with failed as materialized (
         select id from postrider.scheduled_actions
         where lane_id = $2 and needs_attention and state = 'failed' and type = 'send' limit ${PAGE} for update
       ), again as (
         update postrider.scheduled_actions set ${START_OVER(tx.now)}, state_at = ${tx.now}
         where id = any (array(select id from failed)) and state = 'failed' returning message_id
       ), told as (
         insert into postrider.events (id, workspace_id, email_id, type, payload, at)
         select ${NEW_EVENT_ID(tx.now)}, $1, message_id, 'retried', jsonb_build_object('by', $3::text), ${tx.now} from again
       )
       select count(*)::int as count from again`,
      [workspaceId, id, storable(by)],
    )
    const { count } = rows[0]!
    retried += count
    if (count < PAGE) return retried
  }
}
