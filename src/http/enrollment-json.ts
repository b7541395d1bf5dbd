import { z } from '@hono/zod-openapi'
import type { Enrollment, ListedEnrollment } from '../db/enrollments.js'
import { statusOf } from '../domain/email-status.js'
import { ENROLLMENT_STATES } from '../domain/enrollment.js'
import { showId } from '../id.js'
import type { EnrolledNow } from '../operations/launch-sequence.js'
import type { ReadEnrollment } from '../operations/read-enrollment.js'
import { emailStatus, stepSchema } from './email-json.js'

/** Enrollments as clients see them. */
const instant = z.iso.datetime().openapi({ format: 'date-time' })
const count = z.int()

export const enrollmentState = z.enum(ENROLLMENT_STATES).openapi('EnrollmentState')

const shape = {
  object: z.literal('enrollment'),
  id: z.string().openapi({ example: 'enr_019a8b…' }),
  state: enrollmentState,
  campaign_id: z.string(),
  sequence_id: z.string(),
  contact_id: z.string(),
  email: z.string().nullable().openapi({ description: "The contact's address; null once the contact was removed." }),
  sender_id: z.string().openapi({ description: 'As whom all of its emails go out.' }),
  position: z.strictObject({ node: z.string().nullable(), arrived: z.boolean() }).openapi({
    description:
      'The node it is at, or on its way to with the emails in between planned; null is the end. Of one that stopped, where it was.',
  }),
  reason: z.string().nullable().openapi({ description: 'Why it stopped.' }),
  reason_code: z.string().nullable(),
  created_at: instant,
  moved_at: instant,
  finished_at: instant.nullable(),
}

export const enrollmentSchema = z.strictObject(shape).openapi('EnrollmentSummary')

export const listedEnrollmentSchema = z
  .strictObject({
    ...shape,
    next: z
      .strictObject({
        node: z.string(),
        status: emailStatus,
        scheduled_at: instant.openapi({ description: 'When it is or was due.' }),
      })
      .nullable()
      .openapi({ description: 'The first of its emails that has not gone out; null when none is planned.' }),
  })
  .openapi('ListedEnrollment')

export const wholeEnrollmentSchema = z
  .strictObject({
    ...shape,
    explain: z.string().openapi({ description: 'Why it is where it is, and what comes next when.' }),
    emails: z
      .array(
        z.strictObject({
          id: z.string(),
          step: stepSchema,
          status: emailStatus,
          scheduled_at: instant.openapi({ description: 'When it is or was due.' }),
          sent_at: instant.nullable(),
          reason: z.string().nullable(),
          reason_code: z.string().nullable(),
        }),
      )
      .openapi({ description: 'In the order of its steps, as far as they are planned.' }),
  })
  .openapi('Enrollment')

export const enrolledSchema = z
  .strictObject({
    object: z.literal('enrolled'),
    enrolled: count.openapi({ description: 'People.' }),
    scheduled: count.openapi({ description: 'Emails planned for them.' }),
    skipped: count.openapi({ description: 'The sum of the next three.' }),
    unsubscribed: count,
    suppressed: count,
    enrolled_before: count.openapi({ description: 'Who walks the sequence already, or has.' }),
    errors: z.array(z.string()),
    remaining: count.openapi({ description: 'People who are enrolled after this request.' }),
  })
  .openapi('Enrolled')

export const toEnrollment = (enrollment: Enrollment): z.input<typeof enrollmentSchema> => ({
  object: 'enrollment',
  id: showId('enr', enrollment.id),
  state: enrollment.state,
  campaign_id: showId('cmp', enrollment.campaignId),
  sequence_id: showId('seq', enrollment.sequenceId),
  contact_id: showId('ctc', enrollment.contactId),
  email: enrollment.address,
  sender_id: showId('snd', enrollment.senderId),
  position: { node: enrollment.nodeId, arrived: enrollment.arrived },
  reason: enrollment.reason,
  reason_code: enrollment.reasonCode,
  created_at: enrollment.createdAt.toISOString(),
  moved_at: enrollment.movedAt.toISOString(),
  finished_at: enrollment.finishedAt?.toISOString() ?? null,
})

export const toListedEnrollment = (enrollment: ListedEnrollment): z.input<typeof listedEnrollmentSchema> => ({
  ...toEnrollment(enrollment),
  next: enrollment.next && {
    node: enrollment.next.nodeId,
    status: statusOf(enrollment.next.state, enrollment.next.reasonCode),
    scheduled_at: enrollment.next.runAt.toISOString(),
  },
})

export const toWholeEnrollment = ({
  enrollment,
  emails,
  explain,
}: ReadEnrollment): z.input<typeof wholeEnrollmentSchema> => ({
  ...toEnrollment(enrollment),
  explain,
  emails: emails.map((email) => ({
    id: showId('em', email.id),
    step: { node: email.nodeId, number: email.stepNumber },
    status: statusOf(email.state, email.reasonCode),
    scheduled_at: email.runAt.toISOString(),
    sent_at: email.state === 'done' ? email.stateAt.toISOString() : null,
    reason: email.reason,
    reason_code: email.reasonCode,
  })),
})

export const toEnrolled = (enrolled: EnrolledNow): z.input<typeof enrolledSchema> => ({
  object: 'enrolled',
  enrolled: enrolled.enrolled,
  scheduled: enrolled.scheduled,
  skipped: enrolled.unsubscribed + enrolled.suppressed + enrolled.enrolledBefore,
  unsubscribed: enrolled.unsubscribed,
  suppressed: enrolled.suppressed,
  enrolled_before: enrolled.enrolledBefore,
  errors: [...enrolled.errors],
  remaining: enrolled.remaining,
})
