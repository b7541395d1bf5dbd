import type { ActionState } from './states.js'

/** The email before, as whoever comes after it needs to know it. */
export interface EarlierEmail {
  readonly state: ActionState
  readonly stateAt: Date
  readonly runAt: Date
  readonly reason: string | null
  readonly reasonCode: string | null
}

/**
 * Whether what comes `delayMs` after an email may come now.
 *   go     it really went out at least that long ago
 *   wait   not yet: look again in so many milliseconds
 *   stop   it never will: the walk is over
 */
export type FollowUp =
  | { readonly kind: 'go' }
  | { readonly kind: 'wait'; readonly waitMs: number; readonly why: string }
  | { readonly kind: 'stop'; readonly code: string; readonly reason: string }

/** An email that is being handed over is settled within seconds. */
const SETTLING_MS = 5_000
/** Somebody has to decide about it: nothing is gained by looking more often. */
const UNDECIDED_MS = 600_000

/**
 * What failed for another reason than its recipient, and what nobody can know about, is for people to decide: those
 * after it wait, because they speak of it. What was called off or must not be sent ends the walk.
 */
export function decideFollowUp(earlier: EarlierEmail, delayMs: number, now: Date): FollowUp {
  const { state, stateAt, runAt, reason } = earlier
  switch (state) {
    case 'done': {
      const waitMs = stateAt.getTime() + delayMs - now.getTime()
      return waitMs <= 0
        ? { kind: 'go' }
        : { kind: 'wait', waitMs, why: 'its delay after the email before it is not over' }
    }
    case 'pending':
    case 'leased':
    case 'armed':
      return {
        kind: 'wait',
        waitMs: Math.max(runAt.getTime() - now.getTime(), 0) + delayMs + SETTLING_MS,
        why: 'the email before it has not gone out yet',
      }
    case 'uncertain':
      return { kind: 'wait', waitMs: UNDECIDED_MS, why: 'nobody knows whether the email before it went out' }
    case 'failed':
      return earlier.reasonCode === 'recipient'
        ? { kind: 'stop', code: 'bounced', reason: reason ?? 'The address does not exist.' }
        : { kind: 'wait', waitMs: UNDECIDED_MS, why: 'the email before it failed: retry or dismiss it' }
    case 'skipped':
    case 'canceled':
    case 'expired':
    case 'dismissed':
      return {
        kind: 'stop',
        code: earlier.reasonCode ?? state,
        reason: `The email before was ${state === 'skipped' ? 'not sent' : state}${reason ? `: ${reason}` : '.'}`,
      }
  }
}
