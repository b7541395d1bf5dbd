import type { Held, Settlement } from '../../src/domain/action.js'

/** Actions that are all held under one lease. */
export const heldUnder = (leaseToken: string, ids: readonly string[]): Held[] => ids.map((id) => ({ id, leaseToken }))

/** What became of actions that are all held under one lease. */
export const settledUnder = (
  leaseToken: string,
  settlements: readonly Omit<Settlement, 'leaseToken'>[],
): Settlement[] => settlements.map((settlement) => ({ ...settlement, leaseToken }))
