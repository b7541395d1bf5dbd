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

/** When it goes out: what waits says it by `wake_at`, of which there is an index; what is due has none any more. */
const TIME = 'coalesce(wake_at, run_at)'

/** An email that has gone out since its page was read still has its place: the next page begins behind it. */
const placeOf = (id: string) =>
  `(select ${TIME}, id from postrider.scheduled_actions where id = ${id}::uuid and lane_id = $2)`

/** Soonest first, whichever way one pages. */
export async function listCalendar(
  sql: Sql,
  workspaceId: string,
  campaignId: string,
  { limit, from, to, after, before }: CalendarPage,
): Promise<EmailSummary[]> {
  const backwards = before !== undefined && after === undefined
  const order = backwards ? 'desc' : 'asc'
  const values: unknown[] = [workspaceId, campaignId, limit]
  const bind = (value: unknown) => `$${values.push(value)}`
  const within = [
    ...(from ? [(at: string) => `and ${at} >= ${bind(from)}`] : []),
    ...(to ? [(at: string) => `and ${at} < ${bind(to)}`] : []),
    ...(after === undefined ? [] : [(at: string) => `and (${at}, id) > ${placeOf(bind(after))}`]),
    ...(before === undefined ? [] : [(at: string) => `and (${at}, id) < ${placeOf(bind(before))}`]),
  ]
  const page = (at: string) =>
    `${within.map((condition) => condition(at)).join(' ')} order by ${at} ${order}, id ${order} limit $3`
  // The page first, from what an index says: all that is shown of an email, read for everything that waits, took seconds.
  const { rows } = await sql.query<SummaryRow>(
    `with waiting as materialized (
       select id, wake_at as at from postrider.scheduled_actions
       where lane_id = $2 and wake_at is not null and contact_id is not null ${page('wake_at')}
     ), due as materialized (
       select id, run_at as at from postrider.scheduled_actions
       where id = any (array(select unnest(action_ids) from ${DUE_HINTS} hint where lane_id = $2))
         and lane_id = $2 and state = 'pending' and wake_at is null and contact_id is not null ${page('run_at')}
     ), page as materialized (
       select id from (select * from waiting union all select * from due) pending
       order by at ${order}, id ${order} limit $3
     )
     select ${CAMPAIGN_SUMMARY} from ${CAMPAIGN_EMAILS}
     where action.workspace_id = $1 and action.id = any (array(select id from page))
     order by coalesce(action.wake_at, action.run_at) ${order}, action.id ${order}`,
    values,
  )
  return (backwards ? rows.toReversed() : rows).map(toSummary)
}
