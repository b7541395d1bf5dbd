import { z } from '@hono/zod-openapi'
import { DECIDABLE, type EmailDecision } from '../../db/decide-emails.js'
import { showId } from '../../id.js'
import { decideMany, type MassDecision, type Selection } from '../../operations/decide-many.js'
import { readInstant } from '../../operations/prepare-email.js'
import { emailFilterShape, readEmailFilter } from '../email-list-json.js'
import { type Call, type Endpoint, keyed } from '../endpoint.js'
import { type InputProblem, refusal } from '../problem.js'
import { fields, text } from '../read-input.js'
import { readReferencesIn } from '../read-reference.js'

/** What an operator decides about many emails at once. */
const MOST_IDS = 1_000

const shape = {
  ids: z
    .array(text(1_000))
    .max(MOST_IDS, `at most ${MOST_IDS} ids`)
    .optional()
    .openapi({ description: 'Exactly these.' }),
  filter: fields(emailFilterShape).optional().openapi({
    description: 'All that match, as in GET /api/emails, of those the decision applies to. {}: all of them.',
  }),
  dry_run: z.boolean().optional().openapi({ description: 'Change nothing, and say how many it would be.' }),
  expected: z
    .int('must be a whole number')
    .min(0, 'must be at least 0')
    .optional()
    .openapi({ description: 'How many somebody agreed to: if it is another number by now, nothing is changed.' }),
}

/** From before there were filters. */
const ofOld = {
  to: text(1_000).optional().openapi({ description: 'The same as filter.to.' }),
  q: text(1_000).optional().openapi({ description: 'The same as filter.q.' }),
}

const decidedSchema = z
  .strictObject({
    dry_run: z.boolean(),
    matched: z.int().openapi({ description: 'Those named, or found; of a dry run, those it would apply to.' }),
    changed: z.int(),
    refused: z
      .array(
        z.strictObject({ id: z.string(), code: z.enum(['email_not_found', 'email_conflict']), detail: z.string() }),
      )
      .openapi({ description: 'The first 100 of those that had become something else, each with what it is.' }),
    refused_count: z.int(),
    has_more: z.boolean().openapi({ description: 'More than 100,000 match: these were the newest. Ask again.' }),
  })
  .openapi('MassDecision')

interface Given {
  readonly ids?: readonly string[] | undefined
  readonly filter?: z.output<NonNullable<(typeof shape)['filter']>> | undefined
  readonly dry_run?: boolean | undefined
  readonly expected?: number | undefined
  readonly to?: string | undefined
  readonly q?: string | undefined
}

const common = {
  method: 'post',
  scope: 'manage',
  tag: 'Outbox',
  answers: 'How many were changed, and which were not.',
  answer: decidedSchema,
  problems: ['email_conflict'],
} as const

const PAGES =
  'A page of them at a time: what was done by the time of a crash stays done, and asking again does the rest.'

const overFailed = (decision: 'retry' | 'dismiss', summary: string): Endpoint =>
  keyed({
    ...common,
    path: `/api/admin/outbox/${decision}`,
    summary,
    description: `Without ids and without a filter, all failed ones. ${PAGES}`,
    body: fields({ ...shape, ...ofOld }),
    bodyOptional: true,
    example: { filter: { q: 'invoice' }, dry_run: true },
    run: (call) => decide(call, decision, {}),
  })

export const massEndpoints: readonly Endpoint[] = [
  overFailed('retry', 'Retry failed emails'),
  overFailed('dismiss', 'Dismiss failed emails'),
  keyed({
    ...common,
    path: '/api/admin/outbox/cancel',
    summary: 'Cancel emails that wait',
    description: PAGES,
    body: fields(shape),
    example: { filter: { campaign_id: 'cmp_…' }, dry_run: true },
    run: (call) => decide(call, 'cancel', {}),
  }),
  keyed({
    ...common,
    path: '/api/admin/outbox/reschedule',
    summary: 'Send emails that wait at another time',
    description: PAGES,
    body: fields({ ...shape, scheduled_at: text(100).openapi({ format: 'date-time' }) }),
    example: { ids: ['em_…'], scheduled_at: '2030-01-01T09:00:00Z' },
    run: (call) => decide(call, 'reschedule', { scheduledAt: call.body.scheduled_at }),
  }),
  keyed({
    ...common,
    path: '/api/admin/outbox/resolve',
    summary: 'Settle uncertain emails',
    description: `Somebody found out that they went out, or decides to send them again. ${PAGES}`,
    body: fields({ ...shape, outcome: z.enum(['sent', 'resend']) }),
    example: { ids: ['em_…'], outcome: 'sent' },
    run: (call) => decide(call, call.body.outcome, {}),
  }),
]

async function decide(
  { options, caller, body }: Call<unknown, Given>,
  decision: EmailDecision,
  { scheduledAt }: { readonly scheduledAt?: string },
): Promise<z.input<typeof decidedSchema>> {
  const problems: InputProblem[] = []
  const selection = readSelection(body, decision, problems)
  const at =
    scheduledAt === undefined
      ? null
      : readInstant(scheduledAt, 'scheduled_at', (path, detail) => void problems.push({ in: 'body', path, detail }))
  if (problems.length > 0) throw refusal(problems)
  const dryRun = body.dry_run ?? false
  const decided = await decideMany(options.context, caller.workspaceId, selection, decision, {
    by: caller.name,
    dryRun,
    ...(at && { at }),
    ...(body.expected !== undefined && { expected: body.expected }),
  })
  return { dry_run: dryRun, ...toDecided(decided) }
}

function readSelection(body: Given, decision: EmailDecision, problems: InputProblem[]): Selection {
  const { ids, filter, to, q } = body
  const refuse = (path: readonly string[], detail: string) => void problems.push({ in: 'body', path, detail })
  const ofFailed = decision === 'retry' || decision === 'dismiss'
  const old = { ...(to !== undefined && { to }), ...(q !== undefined && { q }) }
  if (ids && filter) refuse(['filter'], 'cannot be combined with ids: name the emails, or say which')
  if ((ids ?? filter) && Object.keys(old).length > 0) refuse(['filter'], 'has to and q in it, not beside it')
  if (!ids && !filter && !ofFailed) refuse(['ids'], 'is needed, or filter: {} for all of them')
  if (ids) return { ids: readReferencesIn('ids', ids, 'em', problems) }
  if (filter?.status && !DECIDABLE[decision].includes(filter.status))
    refuse(['filter', 'status'], `must be ${DECIDABLE[decision].join(' or ')}`)
  return { filter: readEmailFilter(filter ?? old, 'body', filter ? ['filter'] : []) }
}

const toDecided = ({ matched, changed, refused, refusedCount, hasMore }: MassDecision) => ({
  matched,
  changed,
  refused: refused.map(({ id, code, detail }) => ({ id: showId('em', id), code, detail })),
  refused_count: refusedCount,
  has_more: hasMore,
})
