import { RELAXED_COMMIT, type Sql } from './client.js'
import { FIRST_LANE } from './claim-actions.js'
import { type Claim, leaseTaken, type LeasedRow, readClaim } from './lease-taken.js'
import { takeNamed } from './take-named.js'

/**
 * Claims exactly the actions a broker's messages named, if they may begin: the same questions as for any claim, asked of
 * the action and of its lane. A message proves nothing: it may be a second copy, or weeks old. One whose action is
 * settled, canceled or leased finds nothing to do and is over.
 *
 * What stands in a lane that is held now goes back to `ready_actions`, where the relay passes over it until the lane
 * opens. What is not due yet goes back to waiting.
 *
 * An action somebody has locked is passed over and keeps its row in `published_hints`: it is being changed, and if it
 * waits afterwards the relay's sweep tells somebody of it again. The same goes for a row that a relay has touched since
 * this statement began: the state seen here is older than the hint.
 *
 * A crash before the commit leaves everything as it was, and the message comes again or is found lost.
 */
const claim = (now: string) => `
  with ${RELAXED_COMMIT}, named as materialized (
    select id, lane_id, run_at from postrider.scheduled_actions
    where id = any ($4::uuid[]) and state = 'pending' for update skip locked
  ), locked as materialized (
    select id from postrider.scheduled_actions
    where id = any ($4::uuid[]) and state = 'pending' and id <> all (array(select id from named))
  ), ${takeNamed(now)}, removed as (
    delete from postrider.published_hints
    where action_id = any ($4::uuid[]) and action_id <> all (array(select id from locked)) and queued_at < ${now}
  ), ${leaseTaken(now, 'null::uuid')}`

export interface HintedClaim {
  readonly token: string
  readonly worker: string
  readonly leaseMs: number
  readonly ids: readonly string[]
}

export async function claimHintedActions(sql: Sql, { token, worker, leaseMs, ids }: HintedClaim): Promise<Claim> {
  const { rows } = await sql.query<LeasedRow>(claim(sql.now), [token, worker, leaseMs, ids], {
    name: 'claim hinted actions',
  })
  return readClaim(rows, token, FIRST_LANE)
}
