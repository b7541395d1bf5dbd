/** One contact walking one sequence version in one campaign. */
export const ENROLLMENT_STATES = ['active', 'paused', 'completed', 'stopped'] as const
export type EnrollmentState = (typeof ENROLLMENT_STATES)[number]
