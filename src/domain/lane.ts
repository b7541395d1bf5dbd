/**
 * A lane's part in the work. Priority says who goes first within one round of claiming, weight how large a part of the
 * round it gets. A lane nobody configured carries single emails: first, and with ten parts to a campaign's one, so that
 * a password reset overtakes a newsletter but a flood of single emails cannot stop it altogether.
 */
export interface LaneSettings {
  readonly weight: number
  readonly priority: number
}

export const DEFAULT_LANE: LaneSettings = { weight: 10, priority: 0 }
/** The emails of a sequence: few, and each with a time of its own. They go before newsletters. */
export const OUTREACH_LANE: LaneSettings = { weight: 5, priority: 5 }
export const BULK_LANE: LaneSettings = { weight: 1, priority: 10 }

/**
 * The order in which what was claimed together is begun: every lane's part spread over the whole, the first of each lane
 * first. One lane's part after the other would be fair when all is done and never before: a campaign would be ahead of
 * another by its whole part, and a lane with one email would wait for five hundred of its neighbour's. Within a lane,
 * who waited longest goes first.
 */
export function takeTurns<Claimed extends { readonly laneId: string; readonly lagMs: number }>(
  claimed: readonly Claimed[],
): Claimed[] {
  const byAge = claimed.toSorted((a, b) => b.lagMs - a.lagMs)
  if (byAge.every(({ laneId }) => laneId === byAge[0]!.laneId)) return byAge
  const lanes = new Map<string, Claimed[]>()
  for (const action of byAge) {
    const part = lanes.get(action.laneId)
    if (part) part.push(action)
    else lanes.set(action.laneId, [action])
  }
  const placed = [...lanes.values()].flatMap((part) => part.map((action, i) => ({ action, turn: i / part.length })))
  return placed.toSorted((a, b) => a.turn - b.turn).map(({ action }) => action)
}
