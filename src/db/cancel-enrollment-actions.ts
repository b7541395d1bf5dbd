import type { Sql } from './client.js'
import { endUnsent } from './in-doubt.js'
import { storable } from './storable.js'

/**
 * Calls off what is pending for an enrollment: of one node, or all of it. Called by whoever holds the enrollment's row.
 *
 * A row that somebody else holds at this moment is passed over. It is either an action that is being completed, which
 * waits for the enrollment and will find that it has moved (its visit is over), or an email that a worker is taking,
 * which asks about the enrollment just before the wire. To wait for it instead would be a deadlock: that one holds the
 * action and waits for the enrollment.
 *
 * An email that may have been taken in an earlier hand-over ends `uncertain` (in-doubt). A crash leaves all or nothing.
 */
export interface CanceledAction {
  readonly id: string
  readonly type: string
  readonly bookedOn: string | null
  readonly slotAt: Date | null
}

const CANCELED = {
  state: 'canceled',
  code: 'canceled',
  said: `'It was called off (' || $3::text || ').'`,
  reason: '$3::text',
} as const

export async function cancelEnrollmentActions(
  tx: Sql,
  workspaceId: string,
  { enrollmentId, nodeId, type }: { enrollmentId: string; nodeId?: string; type?: string },
  reason: string,
): Promise<CanceledAction[]> {
  const { rows } = await tx.query<CanceledAction>(
    `with mine as materialized (
       select id as mine_id from postrider.scheduled_actions
       where workspace_id = $1 and enrollment_id = $2 and state in ('pending', 'leased')
         and ($4::text is null or node_id = $4) and ($5::text is null or type = $5)
       order by id for update skip locked
     )
     update postrider.scheduled_actions action set ${endUnsent(CANCELED)}, state_at = ${tx.now}
     from mine where action.id = mine_id
     returning action.id, type, booked_on::text as "bookedOn", slot_at as "slotAt"`,
    [workspaceId, enrollmentId, storable(reason), nodeId ?? null, type ?? null],
  )
  return rows
}
