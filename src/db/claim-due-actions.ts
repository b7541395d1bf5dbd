import { FIRST_LANE } from './claim-actions.js'
import { RELAXED_COMMIT, type Sql } from './client.js'
import { type Claim, leaseTaken, type LeasedRow, readClaim } from './lease-taken.js'
import { takeNamed } from './take-named.js'

/**
 * Claims what has fallen due without the way over a hint: promotion and claim in one statement, and one version of each
 * row instead of two. For a worker that has room and knows that no hint of an open lane is left over: where everything
 * is taken there is nothing to be fair about. Once its room is used, what else has fallen due goes the way over hints,
 * where lanes take turns.
 *
 * What stands in a lane that is held gets its hint, as a promotion would have given it.
 *
 * A crash before the commit leaves the rows waiting, after it the lease exists. As with any claim the commit does not
 * wait for the disk.
 */
export interface DueClaim extends Claim {
  /** Found due, whether they may begin or not. */
  readonly due: number
  /** How long until the next one falls due, by the database's clock; null when nothing waits. */
  readonly nextInMs: number | null
}

// The limit is part of the text, as in promote-actions and for the same reason.
const claim = (now: string, limit: number) => `
  with ${RELAXED_COMMIT}, named as materialized (
    select id, lane_id, run_at from postrider.scheduled_actions where wake_at <= ${now} order by wake_at limit ${limit}
    for update skip locked
  ), ${takeNamed(now)}, hinted as (
    update postrider.scheduled_actions set wake_at = null where id = any (array(select id from held))
  ), ${leaseTaken(
    now,
    'null::uuid',
    `, 'due', (select count(*) from named),
      'nextInMs', (select (extract(epoch from wake_at - ${now}) * 1000)::float8 from postrider.scheduled_actions
        where wake_at > ${now} order by wake_at limit 1)`,
  )}`

export interface DueRequest {
  readonly token: string
  readonly worker: string
  readonly leaseMs: number
  readonly limit: number
}

export async function claimDueActions(sql: Sql, { token, worker, leaseMs, limit }: DueRequest): Promise<DueClaim> {
  const { rows } = await sql.query<LeasedRow>(claim(sql.now, limit), [token, worker, leaseMs], {
    name: `claim due ${limit}`,
  })
  return readClaim(rows, token, FIRST_LANE) as DueClaim
}
