import { isId } from '../id.js'
import type { Sql } from './client.js'
import { endUnsent } from './in-doubt.js'
import { storable } from './storable.js'

/**
 * Cancels what has not been handed over. An action that a worker holds but has not armed is canceled too: the worker
 * finds out when it tries to arm. An armed one is left alone, because it may be on the wire; the caller sees from the
 * answer that it was not canceled. One that may have been taken in an earlier hand-over is called off, and ends
 * `uncertain` (in-doubt).
 */
export type CancelFilter =
  | { readonly ids: readonly string[] }
  | { readonly enrollmentId: string; readonly nodeId?: string; readonly type?: string }

const CANCELED = {
  state: 'canceled',
  code: 'canceled',
  said: `'It was called off (' || $2::text || ').'`,
  reason: '$2::text',
} as const

const cancel = (now: string, where: string) => `
  update postrider.scheduled_actions set ${endUnsent(CANCELED)}, state_at = ${now}
  where workspace_id = $1 and state in ('pending', 'leased') and ${where}
  returning id`

/** Returns the ids that were called off. */
export async function cancelActions(
  sql: Sql,
  workspaceId: string,
  filter: CancelFilter,
  reason: string,
): Promise<string[]> {
  const why = storable(reason)
  if ('enrollmentId' in filter && !isId(filter.enrollmentId)) return []
  const { rows } =
    'ids' in filter
      ? await sql.query<{ id: string }>(cancel(sql.now, 'id = any ($3::uuid[])'), [
          workspaceId,
          why,
          filter.ids.filter(isId),
        ])
      : await sql.query<{ id: string }>(
          cancel(
            sql.now,
            'enrollment_id = $3 and ($4::text is null or node_id = $4) and ($5::text is null or type = $5)',
          ),
          [workspaceId, why, filter.enrollmentId, filter.nodeId ?? null, filter.type ?? null],
        )
  return rows.map(({ id }) => id)
}
