import type { SuppressionReason, SuppressionScope } from '../domain/suppression.js'
import type { Sql } from './client.js'
import { storable } from './storable.js'

export interface Suppression {
  /** Folded. */
  readonly address: string
  readonly scope: SuppressionScope
  readonly reason: SuppressionReason
  readonly detail: string | null
  readonly createdAt: Date
}

/** The first reason stays: an address that bounced and is then suppressed by hand has bounced. */
export async function insertSuppression(
  sql: Sql,
  workspaceId: string,
  { address, scope, reason, detail }: Omit<Suppression, 'createdAt'>,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `insert into postrider.suppressions (workspace_id, address, scope, reason, detail, created_at)
     values ($1, $2, $3, $4, $5, ${sql.now}) on conflict do nothing`,
    [workspaceId, address, scope, reason, detail && storable(detail)],
  )
  return rowCount === 1
}

export async function deleteSuppression(sql: Sql, workspaceId: string, address: string): Promise<boolean> {
  const { rowCount } = await sql.query(`delete from postrider.suppressions where workspace_id = $1 and address = $2`, [
    workspaceId,
    address,
  ])
  return rowCount > 0
}

/** In the order of addresses, after one. */
export async function listSuppressions(
  sql: Sql,
  workspaceId: string,
  { after, limit }: { after: string | null; limit: number },
): Promise<Suppression[]> {
  const { rows } = await sql.query<Suppression>(
    `select address, scope, reason, detail, created_at as "createdAt" from postrider.suppressions
     where workspace_id = $1 and ($2::text is null or address > $2) order by address, scope limit $3`,
    [workspaceId, after, limit],
  )
  return rows
}
