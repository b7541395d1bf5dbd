import type { Sql } from './client.js'
import { DUE_HINTS } from './due-hints.js'
import { CAMPAIGN_EMAILS, CAMPAIGN_SUMMARY, type EmailSummary, type SummaryRow, toSummary } from './emails.js'

/**
 * What a campaign sends when: its emails that wait, soonest first. Found by what waits in its lane and what is due, as its
 * progress is, so that what has gone out is never read.
 */
export interface CalendarPage {
  readonly limit: number
  /** From then on, and before then. */
  readonly from?: Date
  readonly to?: Date
  /** Later than this email. */
  readonly after?: string
  /** Sooner than this email. */
  readonly before?: string
}

const PENDING = `select id, run_at from postrider.scheduled_actions
       where lane_id = $2 and wake_at is not null and type = 'send' and contact_id is not null
       union all
       select id, run_at from postrider.scheduled_actions
       where id = any (array(select unnest(action_ids) from ${DUE_HINTS} hint where lane_id = $2))
         and lane_id = $2 and state = 'pending' and wake_at is null and contact_id is not null`

/** An email that has gone out since its page was read still has its place: the next page begins behind it. */
const placeOf = (parameter: string) =>
  `(select run_at, id from postrider.scheduled_actions where id = ${parameter} and lane_id = $2)`

/** Soonest first, whichever way one pages. */
export async function listCalendar(
  sql: Sql,
  workspaceId: string,
  campaignId: string,
  { limit, from, to, after, before }: CalendarPage,
): Promise<EmailSummary[]> {
  const backwards = before !== undefined && after === undefined
  const order = backwards ? 'desc' : 'asc'
  // The page first, from two columns: all that is shown of an email, read for everything that waits, took seconds.
  const { rows } = await sql.query<SummaryRow>(
    `with page as materialized (
       select id from (${PENDING}) pending
       where ($3::timestamptz is null or run_at >= $3) and ($4::timestamptz is null or run_at < $4)
         and ($5::uuid is null or (run_at, id) > ${placeOf('$5')})
         and ($6::uuid is null or (run_at, id) < ${placeOf('$6')})
       order by run_at ${order}, id ${order} limit $7
     )
     select ${CAMPAIGN_SUMMARY} from ${CAMPAIGN_EMAILS}
     where action.workspace_id = $1 and action.id = any (array(select id from page))
     order by action.run_at ${order}, action.id ${order}`,
    [workspaceId, campaignId, from ?? null, to ?? null, after ?? null, before ?? null, limit],
  )
  return (backwards ? rows.toReversed() : rows).map(toSummary)
}
