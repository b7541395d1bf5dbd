import { z } from '@hono/zod-openapi'
import { DECIDABLE, type EmailDecision } from '../../db/decide-emails.js'
import { instantOf, readId, showId } from '../../id.js'
import { decideMany, type MassDecision, type Selection } from '../../operations/decide-many.js'
import { type DecidablePage, listDecidable } from '../../operations/list-decidable.js'
import { readInstant } from '../../operations/prepare-email.js'
import { emailFilterShape, readEmailFilter } from '../email-list-json.js'
import { type Call, type Endpoint, keyed } from '../endpoint.js'
import { type InputProblem, refusal } from '../problem.js'
import { fields, text, withinMs } from '../read-input.js'
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
  within_ms: withinMs(
    'Of a dry run of a filter: answer after about so long with what was found by then, each by its id, and `next` to go on with. To decide about exactly these, name them as ids.',
  ),
  after: text(1_000)
    .optional()
    .openapi({ description: 'Of a dry run with within_ms: the `next` of the answer before.' }),
  in_all: z.int('must be a whole number').min(1, 'must be at least 1').optional().openapi({
    description:
      'The ids are a part of so many that somebody agreed to. All parts are one entry of the audit log, which says how far it came.',
  }),
  deed: text(1_000).optional().openapi({
    description:
      'Of every part but the first: the `deed` of the answer to the first. The rest of the body has to be the same.',
  }),
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
    ids: z
      .array(z.string())
      .optional()
      .openapi({ description: 'With within_ms: those that were found, newest first.' }),
    next: z.string().nullable().optional().openapi({
      description: 'With within_ms: what `after` has to be to go on; null when everything was looked at.',
    }),
    searched_until: z.iso.datetime().nullable().optional().openapi({
      description: 'With within_ms: emails made before this were not looked at yet.',
    }),
    deed: z.string().optional().openapi({ description: 'With in_all: the entry of the audit log.' }),
  })
  .openapi('MassDecision')

interface Given {
  readonly ids?: readonly string[] | undefined
  readonly filter?: z.output<NonNullable<(typeof shape)['filter']>> | undefined
  readonly dry_run?: boolean | undefined
  readonly expected?: number | undefined
  readonly within_ms?: number | undefined
  readonly after?: string | undefined
  readonly in_all?: number | undefined
  readonly deed?: string | undefined
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
  { options, caller, body, deed }: Call<unknown, Given>,
  decision: EmailDecision,
  { scheduledAt }: { readonly scheduledAt?: string },
): Promise<z.input<typeof decidedSchema>> {
  const problems: InputProblem[] = []
  const selection = readSelection(body, decision, problems)
  const at =
    scheduledAt === undefined
      ? null
      : readInstant(scheduledAt, 'scheduled_at', (path, detail) => void problems.push({ in: 'body', path, detail }))
  const after = readParts(body, selection, problems)
  if (problems.length > 0) throw refusal(problems)
  const dryRun = body.dry_run ?? false
  if (body.within_ms !== undefined && 'filter' in selection) {
    const asked = { withinMs: body.within_ms, after }
    return toPage(await listDecidable(options.context, caller.workspaceId, selection.filter, decision, asked))
  }
  const decided = await decideMany(options.context, caller.workspaceId, selection, decision, {
    by: caller.name,
    dryRun,
    ...(at && { at }),
    ...(body.expected !== undefined && { expected: body.expected }),
  })
  const part = body.in_all !== undefined && deed !== null ? { deed: showId('aud', deed) } : {}
  return { dry_run: dryRun, ...toDecided(decided), ...part }
}

/** What belongs together when a deed is counted and done in parts. Returns where to go on from. */
function readParts(body: Given, selection: Selection, problems: InputProblem[]): string | undefined {
  const { dry_run: dryRun, within_ms: patienceMs, after, in_all: inAll, deed } = body
  const refuse = (name: string, detail: string) => void problems.push({ in: 'body', path: [name], detail })
  if (patienceMs !== undefined && (!dryRun || 'ids' in selection)) refuse('within_ms', 'needs dry_run and a filter')
  if (after !== undefined && patienceMs === undefined) refuse('after', 'needs within_ms')
  if (inAll !== undefined && (dryRun || !('ids' in selection)))
    refuse('in_all', 'needs ids, and is nothing for a dry run')
  if (inAll !== undefined && 'ids' in selection && selection.ids.length > inAll)
    refuse('in_all', 'is less than the ids')
  if (deed !== undefined && inAll === undefined) refuse('deed', 'needs in_all')
  if (deed !== undefined && readId('aud', deed) === null) refuse('deed', 'must be an id such as aud_0123…')
  const read = after === undefined ? undefined : readId('em', after)
  if (read === null) refuse('after', 'must be an id such as em_0123…')
  return read ?? undefined
}

const toPage = ({ ids, searchedUntil }: DecidablePage): z.input<typeof decidedSchema> => ({
  dry_run: true,
  matched: ids.length,
  changed: 0,
  refused: [],
  refused_count: 0,
  has_more: searchedUntil !== null,
  ids: ids.map((id) => showId('em', id)),
  next: searchedUntil && showId('em', searchedUntil),
  searched_until: searchedUntil && instantOf(searchedUntil).toISOString(),
})

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
