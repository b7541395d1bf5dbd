import type { Sql } from './client.js'
import type { Contact } from './contacts.js'
import type { Cursor } from './search-on.js'

/** A contact as somebody on a list. Whether it is subscribed is not stored: it is, unless its address has opted out. */
export interface Member extends Contact {
  readonly subscribed: boolean
  readonly joinedAt: Date
}

/**
 * The contact of each member, looked up one by one: for a page of a list. As a plain join the planner likes to walk contacts
 * and members side by side in the order of ids, and reads every contact that came before the first of the page, whoever's
 * lists they are on.
 */
export const WITH_CONTACTS = `cross join lateral (
  select * from postrider.contacts where contacts.id = list_members.contact_id offset 0) contacts`

const MEMBERS = `select contacts.id, contacts.workspace_id as "workspaceId", contacts.address,
    contacts.folded_address as "foldedAddress", contacts.name, contacts.attributes, contacts.timezone,
    contacts.created_at as "createdAt", contacts.updated_at as "updatedAt", list_members.joined_at as "joinedAt",
    opt_outs.address is null as subscribed
  from postrider.list_members ${WITH_CONTACTS}
    left join postrider.opt_outs on opt_outs.list_id = list_members.list_id
      and opt_outs.address = contacts.folded_address
  where list_members.list_id = $1`

/** Newest contacts first. */
export async function listMembers(
  sql: Sql,
  listId: string,
  { subscribed }: { readonly subscribed?: boolean },
  { limit, after, before }: Cursor,
): Promise<Member[]> {
  const { rows } = await sql.query<Member>(
    `${MEMBERS} and ($2::boolean is null or (opt_outs.address is null) = $2)
       and ($3::uuid is null or contact_id < $3) and ($4::uuid is null or contact_id > $4)
     order by contact_id ${before === undefined ? 'desc' : 'asc'} limit $5`,
    [listId, subscribed ?? null, after ?? null, before ?? null, limit],
  )
  return before === undefined ? rows : rows.toReversed()
}

/** In the order of ids, behind one: the way a campaign walks a list. */
export async function walkMembers(sql: Sql, listId: string, after: string | null, limit: number): Promise<Member[]> {
  const { rows } = await sql.query<Member>(
    `${MEMBERS} and ($2::uuid is null or contact_id > $2) order by contact_id limit $3`,
    [listId, after, limit],
  )
  return rows
}

export async function findMember(sql: Sql, listId: string, contactId: string): Promise<Member | null> {
  const { rows } = await sql.query<Member>(`${MEMBERS} and contact_id = $2`, [listId, contactId])
  return rows[0] ?? null
}

export interface Membership {
  readonly listId: string
  readonly name: string
  readonly subscribed: boolean
  readonly joinedAt: Date
}

/** The lists a contact is on, by name. */
export async function listMemberships(sql: Sql, workspaceId: string, contactId: string): Promise<Membership[]> {
  const { rows } = await sql.query<Membership>(
    `select lists.id as "listId", lists.name, opt_outs.address is null as subscribed,
       list_members.joined_at as "joinedAt"
     from postrider.list_members
       join postrider.lists on lists.id = list_members.list_id
       join postrider.contacts on contacts.id = list_members.contact_id
       left join postrider.opt_outs on opt_outs.list_id = lists.id and opt_outs.address = contacts.folded_address
     where contacts.workspace_id = $1 and contact_id = $2 order by lists.name`,
    [workspaceId, contactId],
  )
  return rows
}

/** How many of these folded addresses must not get a list's mail: opted out of it, or suppressed. */
export async function countUnwilling(
  sql: Sql,
  workspaceId: string,
  listId: string,
  addresses: readonly string[],
): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(
    `select count(*)::int as count from (
       select address from postrider.opt_outs where list_id = $2 and address = any ($3::text[])
       union select address from postrider.suppressions where workspace_id = $1 and address = any ($3::text[])) found`,
    [workspaceId, listId, addresses],
  )
  return rows[0]!.count
}

/** Every attribute anybody on the list has, by name. */
export async function listAttributeNames(sql: Sql, listId: string, most: number): Promise<string[]> {
  const { rows } = await sql.query<{ name: string }>(
    `select distinct jsonb_object_keys(attributes) as name from postrider.list_members
       join postrider.contacts on contacts.id = contact_id
     where list_id = $1 order by name limit $2`,
    [listId, most],
  )
  return rows.map(({ name }) => name)
}
