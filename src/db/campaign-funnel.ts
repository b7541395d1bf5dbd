import type { EnrollmentState } from '../domain/enrollment.js'
import type { Sql } from './client.js'

/** How many people of a campaign are at one place of its sequence. */
export interface Place {
  /** What they are at, or come to next; null: the end. */
  readonly node: string | null
  readonly state: EnrollmentState
  readonly arrived: boolean
  readonly people: number
}

/** Counted from one index, however many people there are; the emails on their way are passed over. */
export async function countPlaces(sql: Sql, campaignId: string): Promise<Place[]> {
  const { rows } = await sql.query<Place>(
    `select node_id as node, state, arrived, count(*)::int as people
     from postrider.enrollments where campaign_id = $1 group by node_id, state, arrived`,
    [campaignId],
    { name: 'places of a campaign' },
  )
  return rows
}

/** Whoever is to get an email next is on the way to that. All emails are read: only for one that has not too many. */
export async function countPlacesByEmail(sql: Sql, campaignId: string): Promise<Place[]> {
  const { rows } = await sql.query<Place>(
    `with next as (
       select distinct on (enrollment_id) enrollment_id, node_id from postrider.scheduled_actions
       where lane_id = $1 and type = 'send' and state <> 'done' and enrollment_id is not null
       order by enrollment_id, created_at, id
     )
     select coalesce(next.node_id, enrollments.node_id) as node, state, arrived, count(*)::int as people
     from postrider.enrollments left join next on next.enrollment_id = enrollments.id and finished_at is null
     where campaign_id = $1 group by 1, 2, 3`,
    [campaignId],
    { name: 'places of a campaign by email' },
  )
  return rows
}

/** What went out at each node. All emails of the campaign are read: only for one that has not too many. */
export async function countSentByNode(sql: Sql, campaignId: string): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql.query<{ node: string; sent: number }>(
    `select node_id as node, count(*)::int as sent from postrider.scheduled_actions
     where lane_id = $1 and type = 'send' and state = 'done' and node_id is not null group by node_id`,
    [campaignId],
    { name: 'sent by node' },
  )
  return new Map(rows.map(({ node, sent }) => [node, sent]))
}
