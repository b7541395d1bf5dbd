import type { AuditIntent } from './audit-log.js'
import type { Sql } from './client.js'
import { storable } from './storable.js'

/**
 * A deed that is done in parts, each by a request of its own, and is one entry of the audit log: written before the first
 * part, with how much there is in all; each part is added to it before it is done, and what became of it after that. Its
 * end is not known until all of it is done, so one that was left in the middle says how far it came.
 */
export interface AuditPart {
  readonly changed: number
  readonly refused: number
}

/** What each part changes of an entry. The rest of it is what somebody agreed to. */
const COUNTS = `array['begun', 'changed', 'refused']`

export const firstPart = (size: number) => ({ begun: size, changed: 0, refused: 0 })

/**
 * Begins another part, if it is one: of a deed of the same person, of the same kind and with the same words, that is not
 * over, and not more of it than there is in all.
 */
export async function beginAuditPart(
  sql: Sql,
  workspaceId: string,
  { id, actor, actorKind, action, detail }: Omit<AuditIntent, 'summary' | 'target' | 'requestId'>,
  size: number,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `update postrider.audit_log set detail = detail || jsonb_build_object('begun', (detail ->> 'begun')::int + $7::int)
     where workspace_id = $1 and id = $2 and actor = $3 and actor_kind = $4 and action = $5 and status is null
       and detail - ${COUNTS} = $6::jsonb and (detail ->> 'begun')::int + $7::int <= (detail ->> 'in_all')::int`,
    [workspaceId, id, storable(actor), actorKind, action, JSON.stringify(detail), size],
  )
  return rowCount === 1
}

/** `status` is that of the whole, once this was the last of it. */
export async function recordAuditPart(
  sql: Sql,
  workspaceId: string,
  id: string,
  { changed, refused }: AuditPart,
  status: number,
): Promise<void> {
  await sql.query(
    `update postrider.audit_log set
       detail = detail || jsonb_build_object('changed', (detail ->> 'changed')::int + $3::int,
         'refused', (detail ->> 'refused')::int + $4::int),
       status = case when (detail ->> 'changed')::int + (detail ->> 'refused')::int + $3::int + $4::int
         >= (detail ->> 'in_all')::int then $5::smallint end
     where workspace_id = $1 and id = $2 and status is null`,
    [workspaceId, id, changed, refused, status],
  )
}
