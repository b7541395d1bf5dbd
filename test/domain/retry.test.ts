import { describe, expect, it } from 'vitest'
import { decideRetry, RETRY_POLICIES, type RetryPolicy } from '../../src/domain/retry.js'

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]

/** Every wait an action lives through until it has failed for good. */
function waitsOf(policy: RetryPolicy, uncounted = 0): number[] {
  const waits: number[] = []
  for (let attempts = uncounted > 0 ? 0 : 1; ; attempts++) {
    const decision = decideRetry(policy, { attempts, uncounted })
    if (!decision.retry) return waits
    waits.push(decision.waitMs)
  }
}

describe('the named policies', () => {
  it.each([
    ['outreach', 4, [1, 5, 15].map((n) => n * MINUTE)],
    ['transactional', 5, [30, 60, 120, 240].map((n) => n * SECOND)],
    ['standard', 8, [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR]],
  ] as const)('%s: %i attempts, with the documented waits between them', (name, attempts, waits) => {
    expect(RETRY_POLICIES[name].maxAttempts).toBe(attempts)
    expect(waitsOf(RETRY_POLICIES[name])).toEqual(waits)
    expect(RETRY_POLICIES[name]).toMatchObject({ name, jitter: 0 })
  })

  it('transactional: a failed inline try moves the schedule and leaves the budget of 5', () => {
    expect(waitsOf(RETRY_POLICIES.transactional, 1)).toEqual([30, 60, 120, 240, 480].map((n) => n * SECOND))
  })

  it('list exactly the waits of the documentation', () => {
    const hours = (...numbers: number[]) => numbers.map((n) => n * HOUR)
    expect(RETRY_POLICIES.standard.waitsMs).toEqual([MINUTE, 5 * MINUTE, 15 * MINUTE, ...hours(1, 3, 6, 12, 24)])
    expect(RETRY_POLICIES.transactional.waitsMs).toEqual([30, 60, 120, 240, 480].map((n) => n * SECOND))
  })
})

describe('a policy', () => {
  const policy = { name: 'own', waitsMs: [10, 20], maxAttempts: 5, jitter: 0 }

  it('repeats its last wait when it has more attempts than waits', () => {
    expect(waitsOf(policy)).toEqual([10, 20, 20, 20])
  })

  it('waits for nothing when it has no waits', () => {
    expect(waitsOf({ ...policy, waitsMs: [], maxAttempts: 3 })).toEqual([0, 0])
  })

  it('never retries with one attempt', () => {
    expect(decideRetry({ ...policy, maxAttempts: 1 }, { attempts: 1 })).toEqual({ retry: false })
  })

  it('adds jitter on top, never below the documented wait', () => {
    const jittery = { ...policy, waitsMs: [1_000], jitter: 0.5 }
    const wait = (random: number) => decideRetry(jittery, { attempts: 1 }, random)
    expect([wait(0), wait(0.5), wait(1)]).toEqual([1_000, 1_250, 1_500].map((waitMs) => ({ retry: true, waitMs })))
  })

  it('takes the first wait when only failures that do not count came before', () => {
    expect(decideRetry(policy, { attempts: 0 })).toEqual({ retry: true, waitMs: 10 })
  })
})
