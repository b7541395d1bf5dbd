import type { FailureTally } from '../domain/group-failures.js'
import type { Sql } from './client.js'

/**
 * What the failed emails of a campaign say, counted. An answer that names its recipient differs for everybody: without
 * the address, most of them are a handful of texts. It reads what needs attention in the lane, by its index, and so
 * many of them at the most: a campaign of a million that failed as a whole is not read as a whole.
 */
export async function tallyFailures(sql: Sql, campaignId: string, most: number): Promise<FailureTally[]> {
  const { rows } = await sql.query<FailureTally>(
    `select code, text, count(*)::int as emails, max(state_at) as "lastAt", max(id::text) as example from (
       select id, state_at, coalesce(reason_code, 'unknown') as code,
         replace(coalesce(reason, ''), coalesce(payload ->> 'recipient', ''), '…') as text
       from postrider.scheduled_actions
       where lane_id = $1 and needs_attention and state = 'failed' and type = 'send' limit $2) failed
     group by code, text`,
    [campaignId, most],
  )
  return rows
}
