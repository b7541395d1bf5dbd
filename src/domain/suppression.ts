/** A hard bounce or a complaint stops everything; an opt-out stops marketing and never a password reset. */
export const SUPPRESSION_SCOPES = ['all', 'marketing'] as const
export type SuppressionScope = (typeof SUPPRESSION_SCOPES)[number]

export const SUPPRESSION_REASONS = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]
