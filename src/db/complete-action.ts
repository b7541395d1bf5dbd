import type { LeasedAction } from '../domain/action.js'
import type { Sql } from './client.js'
import { DUE_HINTS } from './due-hints.js'
import { isLaneHeld } from './lanes.js'

/**
 * Marks an action whose whole effect is in this database as done, in the transaction of that effect.
 *
 * Call it first: it locks the row, so that a rescue or a cancel has to wait for the outcome, and it asks what arming
 * asks. False means the action is no longer ours: roll back and nothing happened. A crash rolls back both.
 */
const complete = (now: string) => `
  update postrider.scheduled_actions action set
    state = 'done', attempts = attempts + 1, lease_token = null, reason = null, reason_code = null, state_at = ${now}
  where id = $1 and lease_token = $2 and state = 'leased'
    and exists (select 1 from postrider.leases where token = $2 and expires_at > ${now})
    and action.run_at <= ${now} and (action.expires_at is null or action.expires_at > ${now})
    and not exists (
      select 1 from postrider.lanes
      where lanes.id = action.lane_id and (lanes.canceled_at is not null or ${isLaneHeld(now)}))`

/**
 * Makes the action just completed come again, in the same transaction: as if new, but the same row under the same key.
 * What its workers died of before this turn counts no more: over the life of a campaign many die of something else, and
 * it would wait longer after each.
 * It comes in front of what waits in its lane: behind the emails it has planned itself, a campaign's next turn would come
 * when the last of them is claimed, the lane would run dry meanwhile, and other campaigns would get ahead of it.
 */
const repeat = (now: string) => `
  update postrider.scheduled_actions action set state = 'pending', attempts = 0, rescues = 0, wake_at = again,
    run_at = least(again, (select min(run_at) - interval '1 microsecond' from ${DUE_HINTS} ready
      where ready.lane_id = action.lane_id))
  from (select ${now} + $2::float8 * interval '1 millisecond' as again) soon
  where id = $1 and state = 'done'`

export async function repeatAction(tx: Sql, actionId: string, waitMs: number): Promise<void> {
  await tx.query(repeat(tx.now), [actionId, waitMs], { name: 'repeat' })
}

export async function completeAction(tx: Sql, action: LeasedAction): Promise<boolean> {
  const { rowCount } = await tx.query(complete(tx.now), [action.id, action.leaseToken], { name: 'complete' })
  return rowCount === 1
}
