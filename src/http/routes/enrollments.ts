import { z } from '@hono/zod-openapi'
import { type Enrollment, listEnrollments } from '../../db/enrollments.js'
import { pauseEnrollment, resumeEnrollment, stopEnrollment } from '../../operations/enrollments.js'
import { type Enrollees, enrollInCampaign, MOST_CONTACTS } from '../../operations/launch-sequence.js'
import { readEnrollment } from '../../operations/read-enrollment.js'
import { type Call, type Endpoint, keyed } from '../endpoint.js'
import {
  enrolledSchema,
  enrollmentSchema,
  enrollmentState,
  listedEnrollmentSchema,
  toEnrolled,
  toEnrollment,
  toListedEnrollment,
  toWholeEnrollment,
  wholeEnrollmentSchema,
} from '../enrollment-json.js'
import { asList, listOf, pageQuery, readPage, readReference } from '../pagination.js'
import { type InputProblem, refusal } from '../problem.js'
import { enrollWithin } from '../campaign-json.js'
import { fields, text } from '../read-input.js'
import { readReferenceIn, readReferencesIn } from '../read-reference.js'

const PATH = '/api/enrollments'
const common = { tag: 'Enrollments', answers: 'The enrollment.', answer: enrollmentSchema } as const

const steering = (
  verb: string,
  steer: (call: Call<unknown, unknown>) => Promise<Enrollment>,
  { summary, description }: { summary: string; description: string },
): Endpoint =>
  keyed({
    ...common,
    method: 'post',
    path: `${PATH}/{id}/${verb}`,
    scope: 'manage',
    summary,
    description,
    problems: ['enrollment_not_found', 'enrollment_conflict'],
    run: async (call) => toEnrollment(await steer(call)),
  })

const enrollees = fields({
  contact_ids: z
    .array(text(1_000))
    .min(1, 'must name somebody')
    .max(MOST_CONTACTS, `at most ${MOST_CONTACTS} people`)
    .optional(),
  list_id: text(1_000).optional(),
  within_ms: enrollWithin,
})
  .refine(({ contact_ids, list_id }) => (contact_ids === undefined) !== (list_id === undefined), {
    error: 'is needed, or list_id, and not both',
    path: ['contact_ids'],
  })
  .openapi('Enrollees')

export const enrollmentEndpoints: readonly Endpoint[] = [
  keyed({
    method: 'post',
    path: '/api/campaigns/{id}/enroll',
    tag: 'Enrollments',
    scope: 'manage',
    summary: 'Enroll more people in a campaign of a sequence',
    description: 'Nobody walks a sequence twice: whoever does or has is skipped. A campaign that was over goes on.',
    body: enrollees,
    example: { contact_ids: ['ctc_…'] },
    answers: 'What became of them.',
    answer: enrolledSchema,
    problems: ['campaign_not_found', 'campaign_conflict', 'list_not_found'],
    async run(call) {
      const { context } = call.options
      const whom = readEnrollees(call.body)
      const patience = { withinMs: call.body.within_ms }
      return toEnrolled(await enrollInCampaign(context, call.caller.workspaceId, call.id('cmp'), whom, patience))
    },
  }),
  keyed({
    ...common,
    method: 'get',
    path: PATH,
    scope: 'read',
    summary: 'List enrollments',
    description: 'Newest first.',
    query: pageQuery({
      campaign_id: text(1_000).optional(),
      contact_id: text(1_000).optional(),
      state: enrollmentState.optional(),
    }),
    answers: 'A page of enrollments.',
    answer: listOf(listedEnrollmentSchema),
    async run({ options, caller, query }) {
      const page = readPage(query, 'enr')
      const filter = {
        ...(query.campaign_id !== undefined && { campaignId: readReference(query.campaign_id, 'campaign_id', 'cmp') }),
        ...(query.contact_id !== undefined && { contactId: readReference(query.contact_id, 'contact_id', 'ctc') }),
        ...(query.state !== undefined && { state: query.state }),
      }
      const wanted = { ...page, limit: page.limit + 1 }
      const found = await listEnrollments(options.context.db, caller.workspaceId, filter, wanted)
      return asList(found.map(toListedEnrollment), page)
    },
  }),
  keyed({
    ...common,
    method: 'get',
    path: `${PATH}/{id}`,
    scope: 'read',
    summary: 'One walk',
    answers: 'The enrollment, its emails, and why it is where it is.',
    answer: wholeEnrollmentSchema,
    problems: ['enrollment_not_found'],
    run: async (call) =>
      toWholeEnrollment(await readEnrollment(call.options.context, call.caller.workspaceId, call.id('enr'))),
  }),
  steering(
    'stop',
    (call) => stopEnrollment(call.options.context, call.caller.workspaceId, call.id('enr'), call.caller.name),
    { summary: 'Stop an enrollment', description: 'For good: what has not gone out never will.' },
  ),
  steering('pause', (call) => pauseEnrollment(call.options.context, call.caller.workspaceId, call.id('enr')), {
    summary: 'Pause an enrollment',
    description: 'Nothing of it goes out, and no wait or timeout of it ends, until it is resumed.',
  }),
  steering('resume', (call) => resumeEnrollment(call.options.context, call.caller.workspaceId, call.id('enr')), {
    summary: 'Resume an enrollment',
    description: 'What should have come meanwhile comes now.',
  }),
]

function readEnrollees(body: z.output<typeof enrollees>): Enrollees {
  const problems: InputProblem[] = []
  const whom: Enrollees = body.contact_ids
    ? { contactIds: readReferencesIn('contact_ids', body.contact_ids, 'ctc', problems) }
    : { listId: readReferenceIn('list_id', body.list_id ?? '', 'lst', problems) }
  if (problems.length > 0) throw refusal(problems)
  return whom
}
