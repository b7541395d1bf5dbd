import type { Sql } from '../db/client.js'
import { findEnrollmentEmails } from '../db/enrollment-emails.js'
import { lockEnrollment } from '../db/enrollments.js'
import { readNow } from '../db/sender-days.js'
import type { LeasedAction } from '../domain/action.js'
import { decideFollowUp } from '../domain/follow-up.js'
import { walkEnrollment, type WalkOptions } from './walk-enrollment.js'

/**
 * What happens when a wait or a timeout of an enrollment comes, in the transaction that completes it. The action's row is
 * locked, then the enrollment's. One of an earlier visit finds that the enrollment has moved, and does nothing: so of an
 * event and the timeout it races exactly one moves it.
 *
 * Returns in how many milliseconds to come again; null when it is done.
 */
interface TimerPayload {
  readonly visit: number
  readonly delay: number
}

/** Somebody resumes it, and that wakes its timers; this is for the case that they are not. */
export const PAUSED_WAIT_MS = 3_600_000
/** So that clocks that are set, and settings that are changed meanwhile, are noticed. */
const LONGEST_WAIT_MS = 86_400_000

export async function runWait(tx: Sql, action: LeasedAction, options: WalkOptions): Promise<number | null> {
  const { visit, delay } = action.payload as unknown as TimerPayload
  const enrollment = await lockEnrollment(tx, action.workspaceId, action.enrollmentId ?? '')
  if (!enrollment || enrollment.finishedAt || enrollment.visit !== visit || enrollment.arrived) return null
  if (enrollment.state === 'paused') return PAUSED_WAIT_MS
  const now = await readNow(tx)
  const last = (await findEnrollmentEmails(tx, enrollment.id)).at(-1)
  // A stretch may have no email of its own; its wait then counts from the move, which the action's time says.
  const planned = last && last.runAt >= enrollment.movedAt
  const answer = last ? decideFollowUp(last, planned ? delay : 0, now) : { kind: 'go' as const }
  if (answer.kind === 'wait') return Math.min(answer.waitMs, LONGEST_WAIT_MS)
  const happening =
    answer.kind === 'stop'
      ? { kind: 'stopped' as const, code: answer.code, reason: answer.reason }
      : { kind: 'arrived' as const }
  await walkEnrollment(tx, enrollment, happening, { ...options, since: last?.runAt ?? enrollment.createdAt })
  return null
}

export async function runTimeout(tx: Sql, action: LeasedAction, options: WalkOptions): Promise<number | null> {
  const { visit } = action.payload as unknown as TimerPayload
  const enrollment = await lockEnrollment(tx, action.workspaceId, action.enrollmentId ?? '')
  if (!enrollment || enrollment.finishedAt || enrollment.visit !== visit) return null
  if (enrollment.state === 'paused') return PAUSED_WAIT_MS
  await walkEnrollment(tx, enrollment, { kind: 'timed_out' }, options)
  return null
}
