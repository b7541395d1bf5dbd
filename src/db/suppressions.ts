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

/**
 * Suppresses any number of addresses; returns how many were not before. The first reason stays: an address that bounced
 * and is then suppressed by hand has bounced. In the order of addresses, so that two callers cannot wait for each other.
 */
export async function insertSuppressions(
  sql: Sql,
  workspaceId: string,
  addresses: readonly string[],
  { scope, reason, detail }: Omit<Suppression, 'address' | 'createdAt'>,
): Promise<number> {
  const { rowCount } = await sql.query(
    `insert into postrider.suppressions (workspace_id, address, scope, reason, detail, created_at)
     select $1, address, $3, $4, $5, ${sql.now} from (select distinct unnest($2::text[]) as address) given
     order by address on conflict do nothing`,
    [workspaceId, addresses, scope, reason, detail && storable(detail)],
  )
  return rowCount
}

/** In every scope; returns how many addresses were suppressed. */
export async function deleteSuppressions(sql: Sql, workspaceId: string, addresses: readonly string[]): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(
    `with gone as (
       delete from postrider.suppressions where workspace_id = $1 and address = any ($2::text[]) returning address)
     select count(distinct address)::int as count from gone`,
    [workspaceId, addresses],
  )
  return rows[0]!.count
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

/** Those of one folded address. */
export async function findSuppressions(sql: Sql, workspaceId: string, address: string): Promise<Suppression[]> {
  const { rows } = await sql.query<Suppression>(
    `select address, scope, reason, detail, created_at as "createdAt" from postrider.suppressions
     where workspace_id = $1 and address = $2 order by scope`,
    [workspaceId, address],
  )
  return rows
}
