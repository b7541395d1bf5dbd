import type { Held } from '../domain/action.js'
import type { Sql } from './client.js'
import { FENCED, writeFence } from './fence.js'
import { isLaneHeld } from './lanes.js'
import { readWrittenIds, writtenIds } from './written-ids.js'

/**
 * Commits the decision to hand actions over, before the byte that cannot be taken back.
 *
 * Everything that may still say no is asked here, in the same statement that says yes: the token must still be the
 * row's own, the lease must not have run out, the lane must be open, the action must be due, which a worker that took it
 * ahead of its time knows by its own clock only, and its time must not be over. What is not in the answer must not be
 * handed over. Pausing or cancelling therefore takes effect for everything that was claimed but not armed, without
 * touching those rows.
 *
 * A crash after the commit and before the outcome leaves the action armed; when the lease runs out it becomes
 * `uncertain`, never pending, because nobody can know what was handed over.
 */
const arm = (now: string) =>
  writtenIds(`
  update postrider.scheduled_actions action set state = 'armed', state_at = ${now}
  where id = any ($1::uuid[]) and ${FENCED} and state = 'leased'
    and lease_token = any (array(
      select token from postrider.leases where token = any ($3::uuid[]) and expires_at > ${now}))
    and action.run_at <= ${now} and (action.expires_at is null or action.expires_at > ${now})
    and not exists (
      select 1 from postrider.lanes
      where lanes.id = action.lane_id and (lanes.canceled_at is not null or ${isLaneHeld(now)}))
  returning id`)

/** Returns the ids that may be handed over. */
export async function armActions(sql: Sql, held: readonly Held[]): Promise<ReadonlySet<string>> {
  const ids = held.map(({ id }) => id)
  const tokens = [...new Set(held.map(({ leaseToken }) => leaseToken))]
  return readWrittenIds(await sql.query(arm(sql.now), [...writeFence(held), tokens], { name: 'arm' }), ids)
}
