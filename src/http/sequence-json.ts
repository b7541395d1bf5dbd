import { z } from '@hono/zod-openapi'
import type { Sequence, SequenceVersion } from '../db/sequences.js'
import type { NodeInput } from '../domain/read-node.js'
import { showSequence } from '../domain/read-sequence.js'
import { COMPARISONS, type Condition, type SequenceGraph, stepNumbers } from '../domain/sequence.js'
import { type Problem, PostriderError } from '../errors.js'
import { readId, showId } from '../id.js'
import type { Context } from '../operations/context.js'
import { findSequenceProblems, type SequenceFields, type WrittenSequence } from '../operations/sequences.js'
import { toJsonPath, toPointer } from './pointer.js'
import type { InputProblem } from './problem.js'
import { checkInput, fields, text } from './read-input.js'

/** Sequences as clients and `--json` see them, and as they are written in a request or a file. */
const delay = z
  .strictObject({ days: z.int().optional(), hours: z.int().optional(), minutes: z.int().optional() })
  .openapi('SequenceDelay', { description: 'Added up; at most 365 days.', example: { days: 2, hours: 4 } })

const scalar = z.union([z.string(), z.number(), z.boolean()])

const condition: z.ZodType<Condition, Condition> = z
  .lazy(() =>
    z.union([
      z.strictObject({ all: z.array(condition) }),
      z.strictObject({ any: z.array(condition) }),
      z.strictObject({ not: condition }),
      z.strictObject({ event: z.string() }),
      z.strictObject({
        attribute: z.string(),
        is: z.enum(COMPARISONS),
        value: z.union([scalar, z.array(scalar)]).optional(),
      }),
    ]),
  )
  // A schema takes lists that may change, and those of a condition may not.
  .openapi('SequenceCondition') as never

const id = z.string().openapi({ description: '1 to 64 of a-z, 0-9, dash and underscore.' })
const target = z.string().optional().openapi({ description: 'The id of a node; absent for the end.' })

const nodeSchema = z
  .discriminatedUnion('type', [
    z.strictObject({
      id,
      type: z.literal('send'),
      template: z.string().openapi({ example: 'tpl_019a8b…' }),
      subject: z.string().optional(),
      delay: delay.optional(),
      reply: z.boolean().optional(),
      next: target,
    }),
    z.strictObject({ id, type: z.literal('wait'), duration: delay, next: target }),
    z.strictObject({
      id,
      type: z.literal('wait_for'),
      event: z.string(),
      timeout: delay,
      on_event: target,
      on_timeout: target,
    }),
    // oxlint-disable-next-line unicorn/no-thenable -- the name of a field, whose value is a schema or a text
    z.strictObject({ id, type: z.literal('branch'), if: condition, then: target, else: target }),
    z.strictObject({ id, type: z.literal('stop') }),
  ])
  .openapi('SequenceNode')

const shape = {
  object: z.literal('sequence'),
  id: z.string().openapi({ example: 'seq_019a8b…' }),
  name: z.string(),
  version: z.int().openapi({ description: 'The newest one.' }),
  steps_count: z.int().openapi({ description: 'How many emails it has, counted over all branches.' }),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
}
const graphShape = {
  start: z.string().openapi({ description: 'The id of the node everybody starts at.' }),
  nodes: z.array(nodeSchema),
}

export const sequenceSummarySchema = z.strictObject(shape).openapi('SequenceSummary')

export const sequenceSchema = z
  .strictObject({
    ...shape,
    ...graphShape,
    versions: z
      .array(z.strictObject({ version: z.int(), created_at: z.iso.datetime() }))
      .openapi({ description: 'The newest hundred, newest first.' }),
  })
  .openapi('Sequence')

export const sequenceVersionSchema = z
  .strictObject({
    object: z.literal('sequence_version'),
    sequence_id: z.string(),
    version: z.int(),
    steps_count: z.int(),
    ...graphShape,
    created_at: z.iso.datetime(),
  })
  .openapi('SequenceVersion')

export const toSequenceSummary = (sequence: Sequence): z.input<typeof sequenceSummarySchema> => ({
  object: 'sequence',
  id: showId('seq', sequence.id),
  name: sequence.name,
  version: sequence.version,
  steps_count: stepNumbers(sequence.graph).size,
  created_at: sequence.createdAt.toISOString(),
  updated_at: sequence.updatedAt.toISOString(),
})

export const toSequence = (
  sequence: Sequence,
  versions: readonly Pick<SequenceVersion, 'version' | 'createdAt'>[],
): z.input<typeof sequenceSchema> => ({
  ...toSequenceSummary(sequence),
  ...toGraph(sequence.graph),
  versions: versions.map(({ version, createdAt }) => ({ version, created_at: createdAt.toISOString() })),
})

export const toSequenceVersion = (found: SequenceVersion): z.input<typeof sequenceVersionSchema> => ({
  object: 'sequence_version',
  sequence_id: showId('seq', found.sequenceId),
  version: found.version,
  steps_count: stepNumbers(found.graph).size,
  ...toGraph(found.graph),
  created_at: found.createdAt.toISOString(),
})

function toGraph(graph: SequenceGraph) {
  const { start, nodes } = showSequence(graph)
  return { start: start!, nodes: nodes.map(toNode) }
}

function toNode(node: NodeInput): z.input<typeof nodeSchema> {
  const shown = Object.entries(node).map(([name, value]) => [JSON_NAMES.get(name) ?? name, value])
  const json = Object.fromEntries(shown) as z.input<typeof nodeSchema>
  return json.type === 'send' ? { ...json, template: showId('tpl', json.template) } : json
}

/** Of the fields whose name is not the same here as in `readSequence`, which those of nodes and those of steps are read by. */
const RENAMED = {
  nodes: { on_event: 'onEvent', on_timeout: 'onTimeout' },
  steps: { delay_days: 'delayDays', delay_hours: 'delayHours', delay_minutes: 'delayMinutes' },
} as const
const JSON_NAMES: ReadonlyMap<string, string> = new Map(
  Object.values(RENAMED)
    .flatMap((names) => Object.entries(names))
    .map(([json, name]) => [name, json]),
)

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** What is in it is read by `readSequence`, which says all that is wrong with it at once. */
const written = {
  steps: z
    .unknown()
    .optional()
    .openapi({
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['template'],
        properties: {
          template: { type: 'string' },
          delay_days: { type: 'integer' },
          delay_hours: { type: 'integer' },
          delay_minutes: { type: 'integer' },
          subject: { type: 'string' },
          reply: { type: 'boolean' },
        },
      },
      description: 'Emails one after the other. Either these or nodes.',
    }),
  nodes: z
    .unknown()
    .optional()
    .openapi({ type: 'array', items: reference('SequenceNode'), description: 'At most 200.' }),
  start: z.unknown().optional().openapi({ type: 'string', description: 'Absent: the first of the nodes.' }),
}

export const newSequence = fields({ name: text(1_000), ...written }).openapi('NewSequence')
export const sequenceChange = fields({ name: text(1_000).optional(), ...written }).openapi('SequenceChange')

interface ReadJson {
  readonly fields: SequenceFields
  readonly problems: readonly InputProblem[]
}

/** For the operations, with what only this layer can say: a name that is written in their way is not one of ours. */
export function toSequenceFields({
  name,
  ...json
}: WrittenSequence & { readonly name?: string | undefined }): ReadJson {
  const problems: InputProblem[] = []
  const given = Object.entries(json).filter(([, value]) => value !== undefined)
  const written = Object.fromEntries(
    given.map(([form, value]) => {
      const names: Readonly<Record<string, string>> = form === 'nodes' || form === 'steps' ? RENAMED[form] : {}
      const read = withoutForeignNames(value, [form], problems)
      return [form, Array.isArray(read) ? read.map((part: unknown) => rename(part, names)) : read]
    }),
  )
  return { fields: { name, ...(given.length > 0 && { written }) }, problems }
}

/** Deeper than anything that is read. */
const DEEPEST = 30

function withoutForeignNames(value: unknown, path: Problem['path'], problems: InputProblem[]): unknown {
  if (typeof value !== 'object' || value === null || path.length > DEEPEST) return value
  if (Array.isArray(value)) return value.map((part, i) => withoutForeignNames(part, [...path, i], problems))
  const kept: [string, unknown][] = []
  for (const [name, part] of Object.entries(value)) {
    const at = [...path, name]
    if (!/[A-Z]/.test(name)) kept.push([name, withoutForeignNames(part, at, problems)])
    else problems.push({ in: 'body', path: at, detail: `is not a known field here${suggest(JSON_NAMES.get(name))}` })
  }
  return Object.fromEntries(kept)
}

const suggest = (name: string | undefined) => (name === undefined ? '' : ` (did you mean ${name}?)`)

function rename(part: unknown, names: Readonly<Record<string, string>>): unknown {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
  return Object.fromEntries(
    Object.entries(part).map(([name, value]: [string, unknown]) => [
      Object.hasOwn(names, name) ? names[name]! : name,
      name === 'template' && typeof value === 'string' ? (readId('tpl', value) ?? value) : value,
    ]),
  )
}

/** What operations say of a sequence, in the names it was written with. */
const inJsonWords = ({ path, detail }: Problem): InputProblem => ({
  in: 'body',
  path: toJsonPath(path),
  detail: detail.replace(/(?<=^is not a known field here \(did you mean )\w+/, (name) => JSON_NAMES.get(name) ?? name),
})

/** The same of an operation that refuses a sequence by throwing. */
export async function sayingInJsonWords<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof PostriderError) || error.code !== 'sequence_invalid') throw error
    throw new PostriderError(error.code, error.message, { problems: error.problems.map(inJsonWords) })
  }
}

export const sequenceValidationSchema = z
  .strictObject({
    object: z.literal('sequence_validation'),
    valid: z.boolean(),
    problems: z.array(
      z.strictObject({ pointer: z.string().openapi({ example: '/nodes/2/next' }), detail: z.string() }),
    ),
  })
  .openapi('SequenceValidation')

/** Everything at once: what is no JSON of ours, and what the operations say of the rest. One problem for each place. */
export async function validateSequence(
  context: Context,
  workspaceId: string,
  json: Readonly<Record<string, unknown>>,
): Promise<z.input<typeof sequenceValidationSchema>> {
  const { name, start, nodes, steps } = json
  const { fields, problems } = toSequenceFields({
    start,
    nodes,
    steps,
    ...(typeof name === 'string' && { name }),
  })
  const all = [
    ...(checkInput(sequenceChange, json, 'body').problems ?? []),
    ...problems,
    ...(await findSequenceProblems(context, workspaceId, fields)).map(inJsonWords),
  ]
  const details = new Map<string, string>()
  for (const { path, detail } of all) if (!details.has(toPointer(path))) details.set(toPointer(path), detail)
  return {
    object: 'sequence_validation',
    valid: details.size === 0,
    problems: [...details].map(([pointer, detail]) => ({ pointer, detail })),
  }
}
