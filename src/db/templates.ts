import { isId } from '../id.js'
import type { Sql } from './client.js'

/** A template at one of its versions. */
export interface Template {
  readonly id: string
  readonly workspaceId: string
  readonly name: string
  readonly version: number
  /** Liquid, all three. */
  readonly subject: string
  readonly html: string | null
  readonly text: string | null
  readonly createdAt: Date
  /** Of the template; a version never changes. */
  readonly updatedAt: Date
  readonly versionCreatedAt: Date
}

export type TemplateContent = Pick<Template, 'subject' | 'html' | 'text'>

const COLUMNS = `templates.id, templates.workspace_id as "workspaceId", templates.name, versions.version,
  versions.subject, versions.html, versions.text, templates.created_at as "createdAt",
  templates.updated_at as "updatedAt", versions.created_at as "versionCreatedAt"`

const VERSIONS = `postrider.templates join postrider.template_versions versions on versions.template_id = templates.id`
const NEWEST = `${VERSIONS} and versions.version = templates.version`

/** At its newest version. */
export async function findTemplate(sql: Sql, workspaceId: string, id: string): Promise<Template | null> {
  if (!isId(id)) return null
  const { rows } = await sql.query<Template>(
    `select ${COLUMNS} from ${NEWEST} where templates.workspace_id = $1 and templates.id = $2`,
    [workspaceId, id],
  )
  return rows[0] ?? null
}

/** At its newest version, and nobody changes or removes it before the transaction ends. */
export async function lockTemplate(sql: Sql, workspaceId: string, id: string): Promise<Template | null> {
  if (!isId(id)) return null
  // Locked first and read then: a version that was added while this waited for the lock would not be joined with.
  await sql.query(`select 1 from postrider.templates where workspace_id = $1 and id = $2 for update`, [workspaceId, id])
  return findTemplate(sql, workspaceId, id)
}

export async function findTemplateVersion(
  sql: Sql,
  workspaceId: string,
  id: string,
  version: number,
): Promise<Template | null> {
  if (!isId(id)) return null
  const { rows } = await sql.query<Template>(
    `select ${COLUMNS} from ${VERSIONS}
     where templates.workspace_id = $1 and templates.id = $2 and versions.version = $3`,
    [workspaceId, id, version],
  )
  return rows[0] ?? null
}

interface Page {
  readonly limit: number
  readonly after?: string
  readonly before?: string
}

/** Newest first, each at its newest version. */
export async function listTemplates(
  sql: Sql,
  workspaceId: string,
  { limit, after, before }: Page,
): Promise<Template[]> {
  const { rows } = await sql.query<Template>(
    `select ${COLUMNS} from ${NEWEST}
     where templates.workspace_id = $1 and ($2::uuid is null or templates.id < $2)
       and ($3::uuid is null or templates.id > $3)
     order by templates.id ${before === undefined ? 'desc' : 'asc'} limit $4`,
    [workspaceId, after ?? null, before ?? null, limit],
  )
  return before === undefined ? rows : rows.toReversed()
}

/** The versions of one template below another version, newest first. */
export async function listTemplateVersions(
  sql: Sql,
  workspaceId: string,
  id: string,
  { limit, below }: { readonly limit: number; readonly below: number | null },
): Promise<Template[]> {
  const { rows } = await sql.query<Template>(
    `select ${COLUMNS} from ${VERSIONS}
     where templates.workspace_id = $1 and templates.id = $2 and ($3::int is null or versions.version < $3)
     order by versions.version desc limit $4`,
    [workspaceId, id, below, limit],
  )
  return rows
}

/** With its first version. False when another template of the workspace has the name. */
export async function insertTemplate(
  sql: Sql,
  workspaceId: string,
  id: string,
  name: string,
  content: TemplateContent,
): Promise<boolean> {
  const { rowCount } = await sql.query(
    `insert into postrider.templates (id, workspace_id, name, version, created_at, updated_at)
     values ($2, $1, $3, 1, ${sql.now}, ${sql.now}) on conflict (workspace_id, name) do nothing`,
    [workspaceId, id, name],
  )
  if (rowCount === 1) await insertVersion(sql, id, 1, content)
  return rowCount === 1
}

/** Throws the database's unique violation when the name is another's. */
export async function updateTemplate(
  sql: Sql,
  workspaceId: string,
  id: string,
  { name, version }: { readonly name: string; readonly version: number },
): Promise<void> {
  await sql.query(
    `update postrider.templates set name = $3, version = $4, updated_at = ${sql.now}
     where workspace_id = $1 and id = $2`,
    [workspaceId, id, name, version],
  )
}

export async function insertVersion(
  sql: Sql,
  templateId: string,
  version: number,
  { subject, html, text }: TemplateContent,
): Promise<void> {
  await sql.query(
    `insert into postrider.template_versions (template_id, version, subject, html, text, created_at)
     values ($1, $2, $3, $4, $5, ${sql.now})`,
    [templateId, version, subject, html, text],
  )
}

/** With its versions. Throws the database's foreign key violation while a campaign was launched with one. */
export async function deleteTemplate(sql: Sql, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await sql.query(`delete from postrider.templates where workspace_id = $1 and id = $2`, [
    workspaceId,
    id,
  ])
  return rowCount === 1
}

export interface TemplateUse {
  readonly kind: 'campaign' | 'sequence'
  readonly name: string
}

/** Some of what uses it: campaigns, drafts included, and sequences as they are now. */
export async function findUsesOfTemplate(sql: Sql, workspaceId: string, id: string): Promise<TemplateUse[]> {
  const { rows } = await sql.query<TemplateUse>(
    `(select 'campaign' as kind, name from postrider.campaigns
      where workspace_id = $1 and (template_id = $2 or id in (
        select campaign_id from postrider.campaign_steps where template_id = $2)) order by id desc limit 3)
     union all
     (select 'sequence', name from postrider.sequences
      join postrider.sequence_versions versions
        on versions.sequence_id = sequences.id and versions.version = sequences.version
      where workspace_id = $1 and versions.graph @> $3::jsonb order by id desc limit 3)`,
    [workspaceId, id, JSON.stringify({ nodes: [{ templateId: id }] })],
  )
  return rows
}
