import type { SequenceGraph } from '../domain/sequence.js'
import { isId } from '../id.js'
import type { Sql } from './client.js'

/** A sequence at its newest version. */
export interface Sequence {
  readonly id: string
  readonly workspaceId: string
  readonly name: string
  readonly version: number
  /** Of the newest version; a version never changes. */
  readonly graph: SequenceGraph
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface SequenceVersion {
  readonly sequenceId: string
  readonly version: number
  readonly graph: SequenceGraph
  readonly createdAt: Date
}

const COLUMNS = `sequences.id, sequences.workspace_id as "workspaceId", sequences.name, sequences.version,
  versions.graph, sequences.created_at as "createdAt", sequences.updated_at as "updatedAt"`

const VERSIONS = `postrider.sequences join postrider.sequence_versions versions on versions.sequence_id = sequences.id`
const NEWEST = `${VERSIONS} and versions.version = sequences.version`

export async function findSequence(sql: Sql, workspaceId: string, id: string): Promise<Sequence | null> {
  if (!isId(id)) return null
  const { rows } = await sql.query<Sequence>(
    `select ${COLUMNS} from ${NEWEST} where sequences.workspace_id = $1 and sequences.id = $2`,
    [workspaceId, id],
  )
  return rows[0] ?? null
}

export async function findSequenceByName(sql: Sql, workspaceId: string, name: string): Promise<Sequence | null> {
  const { rows } = await sql.query<Sequence>(
    `select ${COLUMNS} from ${NEWEST} where sequences.workspace_id = $1 and sequences.name = $2`,
    [workspaceId, name],
  )
  return rows[0] ?? null
}

/** Nobody changes or removes it before the transaction ends. */
export async function lockSequence(sql: Sql, workspaceId: string, id: string): Promise<Sequence | null> {
  if (!isId(id)) return null
  // Locked first and read then: a version that was added while this waited for the lock would not be joined with.
  await sql.query(`select 1 from postrider.sequences where workspace_id = $1 and id = $2 for update`, [workspaceId, id])
  return findSequence(sql, workspaceId, id)
}

export async function findSequenceVersion(
  sql: Sql,
  workspaceId: string,
  id: string,
  version: number,
): Promise<SequenceVersion | null> {
  if (!isId(id)) return null
  const { rows } = await sql.query<SequenceVersion>(
    `select sequences.id as "sequenceId", versions.version, versions.graph, versions.created_at as "createdAt"
     from ${VERSIONS} where sequences.workspace_id = $1 and sequences.id = $2 and versions.version = $3`,
    [workspaceId, id, version],
  )
  return rows[0] ?? null
}

/** What whoever was enrolled with this version walks. */
export async function findSequenceGraph(
  sql: Sql,
  workspaceId: string,
  id: string,
  version: number,
): Promise<SequenceGraph | null> {
  return (await findSequenceVersion(sql, workspaceId, id, version))?.graph ?? null
}

interface Page {
  readonly limit: number
  readonly after?: string
  readonly before?: string
}

/** Newest first. */
export async function listSequences(
  sql: Sql,
  workspaceId: string,
  { limit, after, before }: Page,
): Promise<Sequence[]> {
  const { rows } = await sql.query<Sequence>(
    `select ${COLUMNS} from ${NEWEST}
     where sequences.workspace_id = $1 and ($2::uuid is null or sequences.id < $2)
       and ($3::uuid is null or sequences.id > $3)
     order by sequences.id ${before === undefined ? 'desc' : 'asc'} limit $4`,
    [workspaceId, after ?? null, before ?? null, limit],
  )
  return before === undefined ? rows : rows.toReversed()
}

/** When each version of a sequence was made, newest first. */
export async function listSequenceVersions(
  sql: Sql,
  workspaceId: string,
  id: string,
  limit: number,
): Promise<Pick<SequenceVersion, 'version' | 'createdAt'>[]> {
  const { rows } = await sql.query<Pick<SequenceVersion, 'version' | 'createdAt'>>(
    `select versions.version, versions.created_at as "createdAt" from ${VERSIONS}
     where sequences.workspace_id = $1 and sequences.id = $2 order by versions.version desc limit $3`,
    [workspaceId, id, limit],
  )
  return rows
}

/** With its first version. False when another sequence of the workspace has the name. */
export async function insertSequence(
  sql: Sql,
  workspaceId: string,
  id: string,
  name: string,
  graph: SequenceGraph,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `insert into postrider.sequences (id, workspace_id, name, version, created_at, updated_at)
     values ($2, $1, $3, 1, ${sql.now}, ${sql.now}) on conflict (workspace_id, name) do nothing`,
    [workspaceId, id, name],
  )
  if (rowCount === 1) await insertSequenceVersion(sql, id, 1, graph)
  return rowCount === 1
}

/** Throws the database's unique violation when the name is another's. */
export async function updateSequence(
  sql: Sql,
  workspaceId: string,
  id: string,
  { name, version }: { readonly name: string; readonly version: number },
): Promise<void> {
  await sql.query(
    `update postrider.sequences set name = $3, version = $4, updated_at = ${sql.now}
     where workspace_id = $1 and id = $2`,
    [workspaceId, id, name, version],
  )
}

export async function insertSequenceVersion(
  sql: Sql,
  sequenceId: string,
  version: number,
  graph: SequenceGraph,
): Promise<void> {
  await sql.query(
    `insert into postrider.sequence_versions (sequence_id, version, graph, created_at)
     values ($1, $2, $3::jsonb, ${sql.now})`,
    [sequenceId, version, JSON.stringify(graph)],
  )
}

/** With its versions. Throws the database's foreign key violation while a campaign was launched with one. */
export async function deleteSequence(sql: Sql, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await sql.query(`delete from postrider.sequences where workspace_id = $1 and id = $2`, [
    workspaceId,
    id,
  ])
  return rowCount === 1
}

/** The names of some campaigns that use it, drafts included. */
export async function findCampaignsOfSequence(sql: Sql, workspaceId: string, id: string): Promise<string[]> {
  const { rows } = await sql.query<{ name: string }>(
    `select name from postrider.campaigns where workspace_id = $1 and sequence_id = $2 order by id desc limit 3`,
    [workspaceId, id],
  )
  return rows.map(({ name }) => name)
}

/** Those of these templates that the workspace has. */
export async function findKnownTemplates(
  sql: Sql,
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql.query<{ id: string }>(
    `select id from postrider.templates where workspace_id = $1 and id = any($2::uuid[])`,
    [workspaceId, ids.filter((id) => isId(id))],
  )
  return new Set(rows.map(({ id }) => id))
}
