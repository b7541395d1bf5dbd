import { isId } from '../id.js'
import type { Sql } from './client.js'

export interface List {
  readonly id: string
  readonly workspaceId: string
  readonly name: string
  readonly description: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

export type ListFields = Pick<List, 'name' | 'description'>

export interface MemberCounts {
  readonly members: number
  /** Members whose address has not opted out of the list. */
  readonly subscribed: number
}

const COLUMNS = `lists.id, lists.workspace_id as "workspaceId", lists.name, lists.description,
  lists.created_at as "createdAt", lists.updated_at as "updatedAt"`

export async function findList(sql: Sql, workspaceId: string, id: string): Promise<List | null> {
  if (!isId(id)) return null
  const { rows } = await sql.query<List>(`select ${COLUMNS} from postrider.lists where workspace_id = $1 and id = $2`, [
    workspaceId,
    id,
  ])
  return rows[0] ?? null
}

export async function findListByName(sql: Sql, workspaceId: string, name: string): Promise<List | null> {
  const { rows } = await sql.query<List>(
    `select ${COLUMNS} from postrider.lists where workspace_id = $1 and name = $2`,
    [workspaceId, name],
  )
  return rows[0] ?? null
}

/** Newest first. */
export async function listLists(
  sql: Sql,
  workspaceId: string,
  { limit, after, before }: { readonly limit: number; readonly after?: string; readonly before?: string },
): Promise<List[]> {
  const { rows } = await sql.query<List>(
    `select ${COLUMNS} from postrider.lists
     where workspace_id = $1 and ($2::uuid is null or id < $2) and ($3::uuid is null or id > $3)
     order by id ${before === undefined ? 'desc' : 'asc'} limit $4`,
    [workspaceId, after ?? null, before ?? null, limit],
  )
  return before === undefined ? rows : rows.toReversed()
}

/** Null when another list of the workspace has the name. */
export async function insertList(
  sql: Sql,
  workspaceId: string,
  id: string,
  { name, description }: ListFields,
): Promise<List | null> {
  const { rows } = await sql.query<List>(
    `insert into postrider.lists (id, workspace_id, name, description, created_at, updated_at)
     values ($2, $1, $3, $4, ${sql.now}, ${sql.now})
     on conflict (workspace_id, name) do nothing returning ${COLUMNS}`,
    [workspaceId, id, name, description],
  )
  return rows[0] ?? null
}

/** Null when there is no such list. Throws the database's unique violation when the name is another's. */
export async function updateList(
  sql: Sql,
  workspaceId: string,
  id: string,
  { name, description }: ListFields,
): Promise<List | null> {
  const { rows } = await sql.query<List>(
    `update postrider.lists set name = $3, description = $4, updated_at = ${sql.now}
     where workspace_id = $1 and id = $2 returning ${COLUMNS}`,
    [workspaceId, id, name, description],
  )
  return rows[0] ?? null
}

/**
 * With its memberships, its opt-outs and the record of its imports; the contacts stay. Throws the database's foreign key
 * violation while a campaign names it.
 */
export async function deleteList(sql: Sql, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await sql.query(`delete from postrider.lists where workspace_id = $1 and id = $2`, [
    workspaceId,
    id,
  ])
  return rowCount === 1
}

/** The names of some campaigns that are launched at a list. */
export async function findCampaignsOf(sql: Sql, listId: string): Promise<string[]> {
  const { rows } = await sql.query<{ name: string }>(
    `select name from postrider.campaigns where list_id = $1 order by id desc limit 3`,
    [listId],
  )
  return rows.map(({ name }) => name)
}

/** Whoever is on it already stays as they are. Returns how many were not. In one order, so that two cannot wait in turn. */
export async function joinList(sql: Sql, listId: string, contactIds: readonly string[]): Promise<number> {
  const { rowCount } = await sql.query(
    `insert into postrider.list_members (list_id, contact_id, joined_at)
     select $1, contact_id, ${sql.now} from (select distinct unnest($2::uuid[]) as contact_id) given
     order by contact_id on conflict do nothing`,
    [listId, contactIds],
  )
  return rowCount
}

/** False when it was not on it. An opt-out stays. */
export async function leaveList(sql: Sql, listId: string, contactId: string): Promise<boolean> {
  const { rowCount } = await sql.query(`delete from postrider.list_members where list_id = $1 and contact_id = $2`, [
    listId,
    contactId,
  ])
  return rowCount === 1
}

export async function countMembers(sql: Sql, listId: string): Promise<MemberCounts> {
  const { rows } = await sql.query<MemberCounts>(
    `select members, (members - opted_out)::int as subscribed from
       (select count(*)::int as members from postrider.list_members where list_id = $1) counted,
       (select count(*)::int as opted_out from postrider.opt_outs
          join postrider.lists on lists.id = opt_outs.list_id
          join postrider.contacts on contacts.workspace_id = lists.workspace_id
            and contacts.folded_address = opt_outs.address
          join postrider.list_members on list_members.list_id = opt_outs.list_id
            and list_members.contact_id = contacts.id
        where opt_outs.list_id = $1) ended`,
    [listId],
  )
  return rows[0]!
}
