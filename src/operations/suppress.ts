import { deleteSuppressions, insertSuppressions, type Suppression } from '../db/suppressions.js'
import type { Context } from './context.js'

/** Suppresses folded addresses by hand; returns how many were not before. */
export async function suppress(
  context: Context,
  workspaceId: string,
  addresses: readonly string[],
  why: Omit<Suppression, 'address' | 'createdAt'>,
): Promise<number> {
  const added = await insertSuppressions(context.db, workspaceId, addresses, why)
  context.log.info({ added, scope: why.scope, reason: why.reason }, 'addresses suppressed')
  return added
}

/** Allows folded addresses again, in every scope; returns how many were suppressed. */
export async function unsuppress(context: Context, workspaceId: string, addresses: readonly string[]): Promise<number> {
  const removed = await deleteSuppressions(context.db, workspaceId, addresses)
  context.log.info({ removed }, 'addresses allowed again')
  return removed
}
