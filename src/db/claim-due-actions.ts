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
 * What falls due within `leadMs` can be taken along, for a worker that holds it until its time: the cost of a claim is
 * then shared by more, and is paid before it counts. Nobody's clock but the database's decides when that time has come:
 * arming and completing ask once more whether it is due. What was due before and waits for another reason, as a campaign
 * does for room, is not taken before that wait is over: nobody would hold it.
 *
 * What stands in a lane that is held gets its hint, as a promotion would have given it.
 *
 * A crash before the commit leaves the rows waiting, after it the lease exists. As with any claim the commit does not
 * wait for the disk.
 */
export interface DueClaim extends Claim {
  /** Found due, or nearly, whether they may begin or not. */
  readonly due: number
  /** How long until the next one falls due at the earliest, by the database's clock; null when nothing waits. */
  readonly nextInMs: number | null
}

const inMs = (now: string) => `(extract(epoch from wake_at - ${now}) * 1000)::float8`

/** What is named, and what is not: for the index both say first which part of it to look at. */
const within = (now: string, until: string) =>
  now === until ? `wake_at <= ${now}` : `wake_at <= ${until} and (wake_at <= ${now} or run_at = wake_at)`
const beyond = (now: string, until: string) =>
  now === until ? `wake_at > ${now}` : `wake_at > ${now} and (wake_at > ${until} or run_at <> wake_at)`

// Limit and lead are part of the text, as the limit is in promote-actions and for the same reason. Of a full page the
// next one may be due with its last.
const claim = (now: string, limit: number, until: string) => `
  with ${RELAXED_COMMIT}, named as materialized (
    select id, lane_id, run_at, wake_at from postrider.scheduled_actions where ${within(now, until)}
    order by wake_at limit ${limit} for update skip locked
  ), ${takeNamed(now)}, hinted as (
    update postrider.scheduled_actions set wake_at = null where id = any (array(select id from held))
  ), ${leaseTaken(
    now,
    'null::uuid',
    `, 'due', (select count(*) from named),
      'nextInMs', least((select max(${inMs(now)}) from named having count(*) = ${limit}), (
        select ${inMs(now)} from postrider.scheduled_actions where ${beyond(now, until)} order by wake_at limit 1))`,
    until,
  )}`

export interface DueRequest {
  readonly token: string
  readonly worker: string
  readonly leaseMs: number
  readonly limit: number
  readonly leadMs: number
}

export async function claimDueActions(sql: Sql, request: DueRequest): Promise<DueClaim> {
  const { token, worker, leaseMs, limit, leadMs } = request
  const until = leadMs === 0 ? sql.now : `${sql.now} + interval '${leadMs} milliseconds'`
  const { rows } = await sql.query<LeasedRow>(claim(sql.now, limit, until), [token, worker, leaseMs], {
    name: `claim due ${limit} ${leadMs}`,
  })
  return readClaim(rows, token, FIRST_LANE) as DueClaim
}
