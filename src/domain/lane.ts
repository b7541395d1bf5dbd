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
export const BULK_LANE: LaneSettings = { weight: 1, priority: 10 }
