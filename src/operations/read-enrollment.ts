import { findCampaign } from '../db/campaigns.js'
import type { EmailSummary } from '../db/emails.js'
import { emailsBefore, type EnrollmentEmail, findEnrollmentEmails } from '../db/enrollment-emails.js'
import { findEnrollmentTimer } from '../db/enrollment-timers.js'
import { type Enrollment, findEnrollment } from '../db/enrollments.js'
import { readNow } from '../db/sender-days.js'
import { findSender } from '../db/senders.js'
import { findSequenceGraph } from '../db/sequences.js'
import type { EmailWalk } from '../domain/explain-email.js'
import { explainEnrollment } from '../domain/explain-enrollment.js'
import { stepNumbers } from '../domain/sequence.js'
import { PostriderError } from '../errors.js'
import type { Context } from './context.js'

/** A walk as people see it: where it is, its emails so far, and why it is not further. */
export interface ReadEnrollment {
  readonly enrollment: Enrollment
  readonly emails: readonly NumberedEmail[]
  readonly explain: string
}

export interface NumberedEmail extends EnrollmentEmail {
  readonly stepNumber: number
}

export async function readEnrollment({ db }: Context, workspaceId: string, id: string): Promise<ReadEnrollment> {
  const enrollment = await findEnrollment(db, workspaceId, id)
  if (!enrollment) throw new PostriderError('enrollment_not_found', 'There is no such enrollment.')
  const [campaign, sender, found, timer, now] = await Promise.all([
    findCampaign(db, workspaceId, enrollment.campaignId),
    findSender(db, workspaceId, enrollment.senderId),
    findEnrollmentEmails(db, id),
    findEnrollmentTimer(db, id),
    readNow(db),
  ])
  const graph = await findSequenceGraph(db, workspaceId, enrollment.sequenceId, campaign?.sequenceVersion ?? 0)
  if (!graph) throw new Error(`sequence ${enrollment.sequenceId} has no version ${campaign?.sequenceVersion}`)
  const numbers = stepNumbers(graph)
  const emails = found.map((email) => ({ ...email, stepNumber: numbers.get(email.nodeId) ?? 0 }))
  const explain = explainEnrollment({
    ...enrollment,
    graph,
    campaignPaused: campaign?.status === 'paused',
    senderPausedReason: sender?.pausedReason ?? null,
    emails,
    timerAt: timer?.runAt ?? null,
    now,
  })
  return { enrollment, emails, explain }
}

/** What an email of a sequence waits for beside its own time; null for any other email. */
export async function readEmailWalk(
  context: Context,
  workspaceId: string,
  { id, campaign }: Pick<EmailSummary, 'id' | 'campaign'>,
): Promise<EmailWalk | null> {
  if (!campaign?.step) return null
  const { enrollment, emails } = await readEnrollment(context, workspaceId, campaign.step.enrollmentId)
  return { paused: enrollment.state === 'paused', before: emailsBefore(emails, id).at(-1) ?? null }
}
