import { z } from '@hono/zod-openapi'
import { readNow } from '../../db/sender-days.js'
import { readThroughput } from '../../db/throughput.js'
import { countUpcoming } from '../../db/upcoming-emails.js'
import { type Endpoint, keyed } from '../endpoint.js'
import { fields } from '../read-input.js'

const instant = z.iso.datetime().openapi({ format: 'date-time' })
const count = z.int()
const HOUR = 3_600

const RANGES = {
  '1h': { count: 60, seconds: 60 },
  '24h': { count: 96, seconds: 900 },
  '7d': { count: 84, seconds: 7_200 },
} as const
const MOST_HOURS = 168

const common = { method: 'get', scope: 'read', tag: 'Outbox' } as const

export const figureEndpoints: readonly Endpoint[] = [
  keyed({
    ...common,
    path: '/api/admin/throughput',
    summary: 'What came of attempts, over time',
    description:
      'Of all attempts to hand an email over: accepted, refused for good, refused for now, or without an answer.',
    query: fields({ range: z.enum(['1h', '24h', '7d']).default('1h') }),
    answers: 'Buckets of equal length, the last of which is under way.',
    answer: z
      .strictObject({
        object: z.literal('throughput'),
        seconds: count.openapi({ description: 'The length of a bucket.' }),
        buckets: z.array(
          z.strictObject({ start: instant, sent: count, failed: count, retried: count, uncertain: count }),
        ),
      })
      .openapi('Throughput'),
    async run({ options, caller, query }) {
      const range = RANGES[query.range]
      const buckets = await readThroughput(options.context.db, caller.workspaceId, range)
      return {
        object: 'throughput' as const,
        seconds: range.seconds,
        buckets: buckets.map(({ start, ...counts }) => ({ start: start.toISOString(), ...counts })),
      }
    },
  }),
  keyed({
    ...common,
    path: '/api/admin/upcoming',
    summary: 'What will go out in the next hours',
    description: 'Emails that wait, by when they are due. Of very many, an hour is estimated, and says so.',
    query: fields({
      hours: z.coerce
        .number({ error: 'must be a whole number' })
        .int('must be a whole number')
        .min(1, 'must be at least 1')
        .max(MOST_HOURS, `must be at most ${MOST_HOURS}`)
        .default(24)
        .openapi({ type: 'integer', minimum: 1, maximum: MOST_HOURS, default: 24 }),
    }),
    answers: 'Hours from now on.',
    answer: z
      .strictObject({
        object: z.literal('upcoming'),
        seconds: count,
        buckets: z.array(z.strictObject({ start: instant, emails: count, estimated: z.boolean() })),
      })
      .openapi('Upcoming'),
    async run({ options, caller, query }) {
      const { db } = options.context
      const span = { from: await readNow(db), count: query.hours, seconds: HOUR }
      const buckets = await countUpcoming(db, caller.workspaceId, span)
      return {
        object: 'upcoming' as const,
        seconds: HOUR,
        buckets: buckets.map(({ at, emails, estimated }) => ({ start: at.toISOString(), emails, estimated })),
      }
    },
  }),
]
