import { z } from '@hono/zod-openapi'
import type { Sql } from '../../db/client.js'
import {
  findSequence,
  findSequenceVersion,
  listSequences,
  listSequenceVersions,
  type Sequence,
} from '../../db/sequences.js'
import { readId, showId } from '../../id.js'
import {
  changeSequence,
  createSequence,
  noSuchSequence,
  removeSequence,
  type SequenceFields,
} from '../../operations/sequences.js'
import { type Call, type Endpoint, keyed } from '../endpoint.js'
import { asList, listOf, pageQuery, readPage } from '../pagination.js'
import { refusal } from '../problem.js'
import {
  newSequence,
  sayingInJsonWords,
  sequenceChange,
  sequenceSchema,
  sequenceSummarySchema,
  sequenceValidationSchema,
  sequenceVersionSchema,
  toSequence,
  toSequenceFields,
  toSequenceSummary,
  toSequenceVersion,
  validateSequence,
} from '../sequence-json.js'

/** What the database can count. */
const MOST_VERSIONS = 2_147_483_647

/** More are found by their number. */
const SHOWN_VERSIONS = 100

const common = { tag: 'Sequences', scope: 'manage', answers: 'The sequence.', answer: sequenceSchema } as const
const EXAMPLE = { steps: [{ template: 'tpl_019a8b…' }, { template: 'tpl_019a8c…', delay_days: 3 }] }

export const sequenceEndpoints: readonly Endpoint[] = [
  keyed({
    ...common,
    method: 'get',
    path: '/api/sequences',
    scope: 'read',
    summary: 'List sequences',
    query: pageQuery({}),
    answers: 'A page of sequences, newest first, without their nodes.',
    answer: listOf(sequenceSummarySchema),
    async run({ options: { context }, caller, query }) {
      const page = readPage(query, 'seq')
      const found = await listSequences(context.db, caller.workspaceId, { ...page, limit: page.limit + 1 })
      return asList(found.map(toSequenceSummary), page)
    },
  }),
  keyed({
    ...common,
    method: 'post',
    path: '/api/sequences',
    summary: 'Make a sequence',
    description: 'Of steps, which come one after the other, or of nodes.',
    body: newSequence,
    example: { name: 'Onboarding', ...EXAMPLE },
    status: 201,
    problems: ['sequence_invalid', 'sequence_conflict'],
    async run({ options: { context }, caller, body }) {
      const made = createSequence(context, caller.workspaceId, readFields(body))
      return show(context.db, await sayingInJsonWords(made))
    },
  }),
  keyed({
    ...common,
    method: 'post',
    path: '/api/sequences/validate',
    scope: 'read',
    summary: 'Check a sequence',
    description: 'Nothing is saved. It takes what making a sequence takes; the name may be absent.',
    body: z.record(z.string(), z.unknown()),
    example: EXAMPLE,
    answers: 'Whether it could be saved, and all that is wrong with it.',
    answer: sequenceValidationSchema,
    run: ({ options: { context }, caller, body }) => validateSequence(context, caller.workspaceId, body),
  }),
  keyed({
    ...common,
    method: 'get',
    path: '/api/sequences/{id}',
    scope: 'read',
    summary: 'One sequence',
    description: 'At its newest version.',
    problems: ['sequence_not_found'],
    async run(call) {
      const { db } = call.options.context
      const found = await findSequence(db, call.caller.workspaceId, idOf(call))
      if (!found) throw noSuchSequence()
      return show(db, found)
    },
  }),
  keyed({
    ...common,
    method: 'patch',
    path: '/api/sequences/{id}',
    summary: 'Change a sequence',
    description: 'Another graph makes a new version. Campaigns that were launched keep theirs.',
    body: sequenceChange,
    example: { name: 'Onboarding, shorter' },
    problems: ['sequence_not_found', 'sequence_invalid', 'sequence_conflict'],
    async run(call) {
      const { context } = call.options
      const changed = changeSequence(context, call.caller.workspaceId, idOf(call), readFields(call.body))
      return show(context.db, await sayingInJsonWords(changed))
    },
  }),
  keyed({
    ...common,
    method: 'delete',
    path: '/api/sequences/{id}',
    summary: 'Remove a sequence',
    description: 'With its versions. Not while a campaign names it.',
    answers: 'It is gone.',
    answer: z.strictObject({ object: z.literal('sequence'), id: z.string(), deleted: z.literal(true) }),
    problems: ['sequence_not_found', 'sequence_conflict'],
    async run(call) {
      const id = idOf(call)
      await removeSequence(call.options.context, call.caller.workspaceId, id)
      return { object: 'sequence' as const, id: showId('seq', id), deleted: true as const }
    },
  }),
  keyed({
    ...common,
    method: 'get',
    path: '/api/sequences/{id}/versions/{version}',
    scope: 'read',
    summary: 'One version of a sequence',
    answers: 'The version.',
    answer: sequenceVersionSchema,
    problems: ['sequence_not_found'],
    async run(call) {
      const [id, version] = [idOf(call), readVersion(call.param('version'))]
      const { db } = call.options.context
      const found = version === null ? null : await findSequenceVersion(db, call.caller.workspaceId, id, version)
      if (!found) throw noSuchSequence()
      return toSequenceVersion(found)
    },
  }),
]

/** What is no id names nothing, like one of another workspace. */
function idOf(call: Call<unknown, unknown>): string {
  const id = readId('seq', call.param('id'))
  if (id === null) throw noSuchSequence()
  return id
}

function readFields(body: z.output<typeof sequenceChange>): SequenceFields {
  const { fields, problems } = toSequenceFields(body)
  if (problems.length > 0) throw refusal(problems)
  return fields
}

const show = async (sql: Sql, sequence: Sequence) =>
  toSequence(sequence, await listSequenceVersions(sql, sequence.workspaceId, sequence.id, SHOWN_VERSIONS))

const readVersion = (given: string): number | null =>
  /^[1-9]\d{0,9}$/.test(given) && Number(given) <= MOST_VERSIONS ? Number(given) : null
