import type { Sql } from '../db/client.js'
import { type Enrollment, findEnrollment, lockEnrollment, setEnrollmentState } from '../db/enrollments.js'
import { giveBackBookings, takeBookingOfSkipped } from '../db/give-back-bookings.js'
import { wakeEnrollment } from '../db/wake-enrollment.js'
import type { LeasedAction, Outcome } from '../domain/action.js'
import { PostriderError } from '../errors.js'
import { showId } from '../id.js'
import type { Context } from './context.js'
import { walkEnrollment, type WalkOptions } from './walk-enrollment.js'

/** What people do with one walk: stop it for good, or pause it for a while. */
const notFound = () => new PostriderError('enrollment_not_found', 'There is no such enrollment.')

export const stopEnrollment = (context: Context, workspaceId: string, id: string, by: string): Promise<Enrollment> =>
  steer(context, workspaceId, id, 'stopped', async (tx, enrollment) => {
    const happening = { kind: 'stopped' as const, code: 'stopped', reason: `Stopped by ${by}.` }
    await walkEnrollment(tx, enrollment, happening, context)
    return (await findEnrollment(tx, workspaceId, id))!
  })

/** Its emails, waits and timeouts keep their times; those that come meanwhile wait until it is resumed. */
export const pauseEnrollment = (context: Context, workspaceId: string, id: string): Promise<Enrollment> =>
  steer(context, workspaceId, id, 'paused', (tx, enrollment) => setEnrollmentState(tx, enrollment, 'paused'))

export const resumeEnrollment = (context: Context, workspaceId: string, id: string): Promise<Enrollment> =>
  steer(context, workspaceId, id, 'resumed', async (tx, enrollment) => {
    const resumed = await setEnrollmentState(tx, enrollment, 'active')
    await wakeEnrollment(tx, id)
    return resumed
  })

async function steer(
  context: Context,
  workspaceId: string,
  id: string,
  what: string,
  change: (tx: Sql, enrollment: Enrollment) => Promise<Enrollment>,
): Promise<Enrollment> {
  const changed = await context.db.transaction(async (tx) => {
    const enrollment = await lockEnrollment(tx, workspaceId, id)
    if (!enrollment) throw notFound()
    if (enrollment.finishedAt)
      throw new PostriderError(
        'enrollment_conflict',
        `Enrollment ${showId('enr', id)} is ${enrollment.state}: it cannot be ${what} any more.`,
      )
    return change(tx, enrollment)
  })
  context.log.info({ enrollment: id, state: changed.state }, `enrollment ${what}`)
  context.wake()
  return changed
}

/**
 * An email of an enrollment ended without going out, or its address does not exist: the walk is over at once, and its
 * place in the sender's day is free. If this process dies before it says so, whatever comes next in the walk finds out;
 * the place then stays taken for that day.
 */
export async function stopAfter(
  { db, ...options }: WalkOptions & Pick<Context, 'db'>,
  { id, workspaceId, enrollmentId }: LeasedAction,
  outcome: Outcome,
): Promise<void> {
  if (enrollmentId === null) return
  const stop =
    outcome.kind === 'skipped'
      ? { code: outcome.reason.code, reason: outcome.reason.text }
      : outcome.kind === 'failed' && outcome.reason.code === 'recipient'
        ? { code: 'bounced', reason: outcome.reason.text }
        : null
  if (!stop) return
  await db.transaction(async (tx) => {
    const unused = await takeBookingOfSkipped(tx, id)
    const enrollment = await lockEnrollment(tx, workspaceId, enrollmentId)
    if (enrollment) await walkEnrollment(tx, enrollment, { kind: 'stopped', ...stop }, options)
    // Last, because it locks the sender.
    await giveBackBookings(tx, unused)
  })
}
