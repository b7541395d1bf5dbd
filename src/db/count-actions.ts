import type { Sql } from './client.js'
import { DUE_HINTS } from './due-hints.js'

/** How many actions that are not over there are, by type and state. Costs those, never the history. */
export async function countLiveActions(sql: Sql): Promise<{ type: string; state: string; count: number }[]> {
  const { rows } = await sql.query<{ type: string; state: string; count: number }>(
    `select type, state, count(*)::int as count from (
       select id, type, state from postrider.scheduled_actions where wake_at is not null
       union select id, type, state from postrider.scheduled_actions where needs_attention
       union select id, type, state from postrider.scheduled_actions
         where id in (select unnest(action_ids) from ${DUE_HINTS} hint) and state = 'pending'
       union select id, type, state from postrider.scheduled_actions
         where id in (select unnest(action_ids) from postrider.leases) and state in ('leased', 'armed')
     ) live group by type, state order by type, state`,
  )
  return rows
}
