import { z } from '@hono/zod-openapi'
import { listSuppressions } from '../../db/suppressions.js'
import { foldAddress, parseMailbox } from '../../domain/address.js'
import { SUPPRESSION_REASONS, SUPPRESSION_SCOPES } from '../../domain/suppression.js'
import { suppress, unsuppress } from '../../operations/suppress.js'
import { type Endpoint, keyed } from '../endpoint.js'
import { asList, forwardQuery, listOf } from '../pagination.js'
import { type InputProblem, refusal, RequestError } from '../problem.js'
import { fields, text } from '../read-input.js'
import { suppressionSchema, toSuppression } from '../suppression-json.js'

/** Addresses that must not be mailed. */
const BATCH_LIMIT = 1_000

const newSuppression = fields({
  email: text(4_000),
  scope: z.enum(SUPPRESSION_SCOPES).default('all'),
  reason: z.enum(SUPPRESSION_REASONS).default('manual'),
  detail: text(2_000).nullable().default(null),
}).openapi('NewSuppression')

const addresses = z
  .array(text(4_000))
  .min(1, 'needs at least one address')
  .max(BATCH_LIMIT, `at most ${BATCH_LIMIT} addresses`)

const { email: _, ...shared } = newSuppression.shape
const common = { tag: 'Suppressions', scope: 'manage' } as const

export const suppressionEndpoints: readonly Endpoint[] = [
  keyed({
    ...common,
    method: 'get',
    path: '/api/suppressions',
    scope: 'read',
    summary: 'List suppressions',
    description: 'In the order of addresses; `after` is an address.',
    query: forwardQuery({}),
    answers: 'A page of suppressions.',
    answer: listOf(suppressionSchema),
    async run({ options, caller, query: { limit, after } }) {
      const found = await listSuppressions(options.context.db, caller.workspaceId, {
        after: after === undefined ? null : foldAddress(after),
        limit: limit + 2,
      })
      // Pages are cut between addresses: one whose two scopes were on two pages would lose the second.
      const whole = found[limit]?.address === found[limit - 1]?.address ? limit + 1 : limit
      return asList(found.map(toSuppression), { limit: found.length > limit ? whole : limit })
    },
  }),
  keyed({
    ...common,
    method: 'post',
    path: '/api/suppressions',
    summary: 'Suppress an address',
    body: newSuppression,
    example: { email: 'ada@example.com' },
    answers: 'It is suppressed; added says whether it was not before.',
    answer: z
      .strictObject({
        object: z.literal('suppression'),
        email: z.string(),
        scope: z.enum(SUPPRESSION_SCOPES),
        added: z.boolean(),
      })
      .openapi('SuppressionAdded'),
    async run({ options, caller, body: { email, ...rest } }) {
      const address = readAddresses([email], () => ['email'])[0]!
      const added = await suppress(options.context, caller.workspaceId, [address], rest)
      return { object: 'suppression' as const, email: address, scope: rest.scope, added: added === 1 }
    },
  }),
  keyed({
    ...common,
    method: 'post',
    path: '/api/suppressions/batch/add',
    summary: `Suppress up to ${BATCH_LIMIT} addresses`,
    description: 'All or none.',
    body: fields({ emails: addresses, ...shared }),
    example: { emails: ['ada@example.com', 'grace@example.com'] },
    answers: 'How many were not suppressed before.',
    answer: z.strictObject({ added: z.int() }),
    async run({ options, caller, body: { emails, ...rest } }) {
      const folded = readAddresses(emails, (index) => ['emails', index])
      return { added: await suppress(options.context, caller.workspaceId, folded, rest) }
    },
  }),
  keyed({
    ...common,
    method: 'post',
    path: '/api/suppressions/batch/remove',
    summary: `Allow up to ${BATCH_LIMIT} addresses again`,
    body: fields({ emails: addresses }),
    example: { emails: ['ada@example.com'] },
    answers: 'How many were suppressed.',
    answer: z.strictObject({ removed: z.int() }),
    async run({ options, caller, body: { emails } }) {
      return { removed: await unsuppress(options.context, caller.workspaceId, emails.map(foldAddress)) }
    },
  }),
  keyed({
    ...common,
    method: 'delete',
    path: '/api/suppressions/{email}',
    summary: 'Allow an address again',
    answers: 'It is not suppressed any more.',
    answer: z.strictObject({ object: z.literal('suppression'), email: z.string(), deleted: z.literal(true) }),
    async run(call) {
      const email = call.param('email')
      const known =
        text(4_000).safeParse(email).success &&
        (await unsuppress(call.options.context, call.caller.workspaceId, [foldAddress(email)])) > 0
      if (!known) throw new RequestError('not_found', 'This address is not suppressed.')
      return { object: 'suppression' as const, email: foldAddress(email), deleted: true as const }
    },
  }),
]

function readAddresses(texts: readonly string[], pathOf: (index: number) => (string | number)[]): string[] {
  const problems: InputProblem[] = []
  const folded = texts.map((given, index) => {
    const mailbox = parseMailbox(given)
    if (!mailbox)
      problems.push({ in: 'body', path: pathOf(index), detail: 'must be one address, such as ada@example.com' })
    return mailbox ? foldAddress(mailbox.address) : ''
  })
  if (problems.length > 0) throw refusal(problems)
  return folded
}
