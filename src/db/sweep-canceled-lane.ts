import type { Sql } from './client.js'
import { FIRST_LANE } from './claim-actions.js'
import { endUnsent, LANE_CANCELED } from './in-doubt.js'

/**
 * Writes `canceled` into the rows of a canceled lane, a page at a time, so that what people see is what will happen.
 * The lane itself already stops everything: this may be late, run twice, or stop in the middle. Actions scheduled into
 * the lane after the sweep are canceled when they are claimed.
 */
const PAGE = 1_000

export async function findUnsweptLane(sql: Sql): Promise<string | null> {
  const { rows } = await sql.query<{ id: string }>(
    `select id from postrider.lanes where canceled_at is not null and swept_at is null order by canceled_at limit 1`,
  )
  return rows[0]?.id ?? null
}

/** Returns how many actions it ended. */
export async function sweepCanceledLane(sql: Sql, laneId: string): Promise<number> {
  let canceled = 0
  let after: string | null = FIRST_LANE
  while (after !== null) {
    const { rows }: { rows: { last: string | null; canceled: number }[] } = await sql.query(
      `with page as materialized (
         select id from postrider.scheduled_actions where lane_id = $1 and id > $2 order by id limit ${PAGE}
       ), ended as (
         update postrider.scheduled_actions set ${endUnsent(LANE_CANCELED)}, state_at = ${sql.now}
         where id = any (array(select id from page)) and state in ('pending', 'leased')
         returning 1
       )
       select (select id from page order by id desc limit 1) as last, (select count(*)::int from ended) as canceled`,
      [laneId, after],
    )
    canceled += rows[0]!.canceled
    after = rows[0]!.last
  }
  await sql.query(`update postrider.lanes set swept_at = ${sql.now} where id = $1`, [laneId])
  return canceled
}
