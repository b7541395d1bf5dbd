import { z } from '@hono/zod-openapi'
import { countByStatus, type StatusCount } from '../../db/count-by-status.js'
import { EMAIL_STATUSES, type EmailStatus } from '../../domain/email-status.js'
import { emailFilterShape, readEmailFilter } from '../email-list-json.js'
import { type Endpoint, keyed } from '../endpoint.js'
import { fields } from '../read-input.js'

const countSchema = z
  .strictObject({ count: z.int(), capped: z.boolean().openapi({ description: 'There are at least this many.' }) })
  .openapi('CappedCount')

const statusesSchema = z.strictObject(
  Object.fromEntries(EMAIL_STATUSES.map((status) => [status, countSchema])) as Record<EmailStatus, typeof countSchema>,
)

export const emailCountEndpoints: readonly Endpoint[] = [
  keyed({
    method: 'get',
    path: '/api/admin/email-counts',
    scope: 'read',
    tag: 'Outbox',
    summary: 'How many emails match, by status',
    description:
      'Takes the filters of GET /api/emails; a status among them is passed over. Thousands of each status are counted, and what is larger is capped.',
    query: fields(emailFilterShape),
    answers: 'A count for every status.',
    answer: z
      .strictObject({ object: z.literal('email_counts'), statuses: statusesSchema, total: countSchema })
      .openapi('EmailCounts'),
    async run({ options, caller, query }) {
      const filter = readEmailFilter(query, 'query')
      const statuses = await countByStatus(options.context.db, caller.workspaceId, filter)
      return { object: 'email_counts' as const, statuses: { ...statuses }, total: addUp(Object.values(statuses)) }
    },
  }),
]

const addUp = (counts: readonly StatusCount[]): StatusCount => ({
  count: counts.reduce((sum, { count }) => sum + count, 0),
  capped: counts.some(({ capped }) => capped),
})
