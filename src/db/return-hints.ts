import { RELAXED_COMMIT, type Sql } from './client.js'
import { hintActions } from './hint-actions.js'

/**
 * Gives back what was taken for publishing: because the broker did not take it, or is away and nobody would be told, or
 * because there is no broker any more. What still waits has its hint in `ready_actions` again, where workers look for
 * themselves. A message about it may still arrive: it then finds the action claimed, or claims it.
 *
 * A row that another relay has touched since this statement began stays: what is known here about its action is older.
 *
 * A crash before the commit leaves the rows, and somebody tries again.
 */
const giveBack = (now: string, which: string) => `
  with ${RELAXED_COMMIT}, returned as (
    delete from postrider.published_hints where ${which} and queued_at < ${now} returning action_id
  ), hinted as (${hintActions(`
      select lane_id, run_at, id from postrider.scheduled_actions
      where id = any (array(select action_id from returned)) and state = 'pending' and wake_at is null`)}
  )
  select (select count(*)::int from returned) as returned from relaxed`

const run = async (sql: Sql, which: string, value: unknown): Promise<number> =>
  (await sql.query<{ returned: number }>(giveBack(sql.now, which), [value])).rows[0]!.returned

/** These, which a broker did not confirm. */
export const returnHints = (sql: Sql, actionIds: readonly string[]): Promise<number> =>
  run(sql, 'action_id = any ($1::uuid[])', actionIds)

/** All that were taken so long ago. */
export const returnOldHints = (sql: Sql, afterMs: number): Promise<number> =>
  run(sql, `queued_at <= ${sql.now} - $1::float8 * interval '1 millisecond'`, afterMs)
