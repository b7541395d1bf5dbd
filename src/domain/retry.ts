/**
 * Retry policies are data. A policy is a list of waits and a number of attempts; what happens after a failure is
 * looked up, never computed by hand elsewhere.
 */
export interface RetryPolicy {
  readonly name: string
  /** The wait after the first failure, the second, … When there are fewer waits than failures the last one repeats. */
  readonly waitsMs: readonly number[]
  /** Attempts that count, the first one included. When they are used up the action is `failed`. */
  readonly maxAttempts: number
  /** A fraction of each wait added at random, 0 to 1. 0 by default, so that the documented schedule is exact. */
  readonly jitter: number
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

export type RetryPolicyName = 'outreach' | 'transactional' | 'standard'
export type RetryPolicies = Readonly<Record<RetryPolicyName, RetryPolicy>>

export const RETRY_POLICIES: RetryPolicies = {
  outreach: {
    name: 'outreach',
    waitsMs: [MINUTE, 5 * MINUTE, 15 * MINUTE],
    maxAttempts: 4,
    jitter: 0,
  },
  transactional: {
    name: 'transactional',
    waitsMs: [0, 1, 2, 3, 4].map((failures) => 30 * SECOND * 2 ** failures),
    maxAttempts: 5,
    jitter: 0,
  },
  standard: {
    name: 'standard',
    waitsMs: [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR],
    maxAttempts: 8,
    jitter: 0,
  },
}

export interface Failures {
  /** Attempts that count, the one that just failed included. */
  readonly attempts: number
  /** Failures before them that do not count as attempts: an inline try that failed moves the schedule, not the budget. */
  readonly uncounted?: number
}

export type RetryDecision = { readonly retry: true; readonly waitMs: number } | { readonly retry: false }

/** What a failure leads to: the next wait of the policy, or the end. `random` is drawn from 0 to 1 for the jitter. */
export function decideRetry(policy: RetryPolicy, failures: Failures, random = 0): RetryDecision {
  if (failures.attempts >= policy.maxAttempts) return { retry: false }
  const nth = failures.attempts + (failures.uncounted ?? 0)
  const wait = policy.waitsMs[Math.min(Math.max(nth, 1), policy.waitsMs.length) - 1] ?? 0
  return { retry: true, waitMs: Math.round(wait * (1 + policy.jitter * random)) }
}
