import { isDeepStrictEqual } from 'node:util'
import type { Sql } from '../db/client.js'
import {
  deleteSequence,
  findCampaignsOfSequence,
  findKnownTemplates,
  findSequence,
  insertSequence,
  insertSequenceVersion,
  lockSequence,
  type Sequence,
  updateSequence,
} from '../db/sequences.js'
import { readSequence } from '../domain/read-sequence.js'
import type { SequenceGraph } from '../domain/sequence.js'
import { sayProblems } from '../domain/say-problem.js'
import { type Problem, PostriderError } from '../errors.js'
import { newId } from '../id.js'
import type { Context } from './context.js'

/** Changes to sequences. What is saved can be walked to an end: everything that is wrong is said before. */
export interface SequenceFields {
  readonly name?: string | undefined
  /** Nodes or steps as people write them, templates by their ids. `readSequence` says what they may be. */
  readonly written?: WrittenSequence | undefined
}

export interface WrittenSequence {
  readonly start?: unknown
  readonly nodes?: unknown
  readonly steps?: unknown
}

const LONGEST_NAME = 200

export async function createSequence(
  context: Context,
  workspaceId: string,
  { name = '', written = {} }: SequenceFields,
): Promise<Sequence> {
  const graph = await readFields(context.db, workspaceId, name, written)
  const id = newId()
  return context.db.transaction(async (tx) => {
    if (!(await insertSequence(tx, workspaceId, id, name.trim(), graph!))) throw nameTaken()
    return (await findSequence(tx, workspaceId, id))!
  })
}

/** Another graph makes a new version; another name, or the same graph written in another way, does not. */
export async function changeSequence(
  context: Context,
  workspaceId: string,
  id: string,
  { name, written }: SequenceFields,
): Promise<Sequence> {
  try {
    return await context.db.transaction(async (tx) => {
      const known = await lockSequence(tx, workspaceId, id)
      if (!known) throw noSuchSequence()
      const called = name ?? known.name
      const graph = (await readFields(tx, workspaceId, called, written)) ?? known.graph
      const version = isSame(graph, known.graph) ? known.version : known.version + 1
      if (version !== known.version) await insertSequenceVersion(tx, id, version, graph)
      await updateSequence(tx, workspaceId, id, { name: called.trim(), version })
      return (await findSequence(tx, workspaceId, id))!
    })
  } catch (error) {
    throw (error as { code?: unknown }).code === '23505' ? nameTaken() : error
  }
}

/** With all its versions; not while a campaign names it, even one that has ended: who walked it is shown by it. */
export async function removeSequence(context: Context, workspaceId: string, id: string): Promise<void> {
  try {
    await context.db.transaction(async (tx) => {
      if (!(await lockSequence(tx, workspaceId, id))) throw noSuchSequence()
      const campaigns = await findCampaignsOfSequence(tx, workspaceId, id)
      if (campaigns.length > 0) throw stillUsed(campaigns)
      await deleteSequence(tx, workspaceId, id)
    })
  } catch (error) {
    throw (error as { code?: unknown }).code === '23503'
      ? stillUsed(await findCampaignsOfSequence(context.db, workspaceId, id))
      : error
  }
}

/** All that would keep it from being saved, but for a name that another has. Without a name, nothing is said of that. */
export const findSequenceProblems = async (
  context: Context,
  workspaceId: string,
  { name, written = {} }: SequenceFields,
): Promise<readonly Problem[]> => [
  ...(name === undefined ? [] : findNameProblems(name)),
  ...(await readGraph(context.db, workspaceId, written)).problems,
]

/** Null if nothing was written. */
async function readFields(
  sql: Sql,
  workspaceId: string,
  name: string,
  written: WrittenSequence | undefined,
): Promise<SequenceGraph | null> {
  const { graph, problems } = written
    ? await readGraph(sql, workspaceId, written)
    : { graph: null, problems: [] as const }
  const all = [...findNameProblems(name), ...problems]
  if (all.length > 0) throw invalidSequence(all)
  return graph
}

function findNameProblems(name: string): Problem[] {
  if (name.trim() === '') return [{ path: ['name'], detail: 'is needed' }]
  if (name.trim().length <= LONGEST_NAME && !/[\p{Cc}\u2028\u2029]/u.test(name)) return []
  return [{ path: ['name'], detail: `must be at most ${LONGEST_NAME} characters without control characters` }]
}

async function readGraph(
  sql: Sql,
  workspaceId: string,
  written: WrittenSequence,
): Promise<{ graph: SequenceGraph | null; problems: readonly Problem[] }> {
  const { graph = null, problems = [] } = readSequence(written)
  const named = findNamedTemplates(written)
  const known = await findKnownTemplates(sql, workspaceId, [...new Set(named.map(({ id }) => id))])
  const unknown = named.filter(({ id }) => !known.has(id))
  return {
    graph,
    problems: [
      ...problems,
      ...unknown.map(({ path }) => ({ path, detail: 'must be the id of a template of this workspace' })),
    ],
  }
}

interface NamedTemplate {
  readonly path: Problem['path']
  readonly id: string
}

/**
 * In what was written and not in the graph, which there is only when nothing else is wrong: whoever mistyped a template
 * and a node hears of both.
 */
function findNamedTemplates(written: WrittenSequence): NamedTemplate[] {
  const named: NamedTemplate[] = []
  for (const form of ['nodes', 'steps'] as const) {
    const parts = written[form]
    if (!Array.isArray(parts)) continue
    for (const [i, part] of (parts as (Record<string, unknown> | null)[]).entries()) {
      const isSend = form === 'steps' || part?.['type'] === 'send'
      const id = part?.['template']
      // An empty one is said to be needed.
      if (isSend && typeof id === 'string' && id.trim() !== '') named.push({ path: [form, i, 'template'], id })
    }
  }
  return named
}

/** As the database gives it back: what is absent is not the same as undefined. */
const isSame = (graph: SequenceGraph, known: SequenceGraph): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(graph)), known)

const invalidSequence = (problems: readonly Problem[]) =>
  new PostriderError('sequence_invalid', `The sequence is not valid: ${sayProblems(problems)}.`, { problems })

export const noSuchSequence = () => new PostriderError('sequence_not_found', 'There is no such sequence.')
const nameTaken = () => new PostriderError('sequence_conflict', 'Another sequence of this workspace has this name.')
const stillUsed = (campaigns: readonly string[]) =>
  new PostriderError(
    'sequence_conflict',
    `The sequence is used by a campaign (${campaigns.map((name) => JSON.stringify(name)).join(', ')}): remove that first.`,
  )
