import type { Held } from '../domain/action.js'

/**
 * The fence of a write about actions of several leases: each row must still be under the token that its own holder
 * names, and not merely under one of them. The tokens are the second parameter, as one object keyed by id: no join, no
 * plan to get wrong.
 */
export const FENCED = `lease_token = ($2::jsonb ->> id::text)::uuid`

export const writeFence = (held: readonly Held[]): string =>
  JSON.stringify(Object.fromEntries(held.map(({ id, leaseToken }) => [id, leaseToken])))
