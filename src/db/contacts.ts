import { MOST_ATTRIBUTE_BYTES, MOST_ATTRIBUTES, type NewContact } from '../domain/contact.js'
import { isId, newId } from '../id.js'
import type { Sql } from './client.js'
import { type Cursor, isBackwards, PATIENCE_MS, searchOn } from './search-on.js'

export interface Contact extends NewContact {
  readonly id: string
  readonly workspaceId: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface ContactFilter {
  /** Folded. */
  readonly address?: string
  /** Part of an address or a name. */
  readonly q?: string
}

const COLUMNS = `contacts.id, contacts.workspace_id as "workspaceId", contacts.address,
  contacts.folded_address as "foldedAddress", contacts.name, contacts.attributes, contacts.timezone,
  contacts.created_at as "createdAt", contacts.updated_at as "updatedAt"`

export async function findContact(sql: Sql, workspaceId: string, id: string): Promise<Contact | null> {
  if (!isId(id)) return null
  const { rows } = await sql.query<Contact>(
    `select ${COLUMNS} from postrider.contacts where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  )
  return rows[0] ?? null
}

export async function findContactByAddress(
  sql: Sql,
  workspaceId: string,
  foldedAddress: string,
): Promise<Contact | null> {
  const { rows } = await sql.query<Contact>(
    `select ${COLUMNS} from postrider.contacts where workspace_id = $1 and folded_address = $2`,
    [workspaceId, foldedAddress],
  )
  return rows[0] ?? null
}

/**
 * Lower case by the rules of a language costs ten times the search itself, and is what a letter outside of ASCII needs:
 * only names that have one pay for it.
 */
const NAMED = (q: string) => `(position(lower(${q}) in lower(name collate "C")) > 0
  or octet_length(name) <> char_length(name) and position(lower(${q}) in lower(name)) > 0)`

export interface ContactPage {
  /** Newest first. */
  readonly contacts: readonly Contact[]
  /** Nothing beyond this contact was looked at; null when everything was, or the page is full. */
  readonly searchedUntil: string | null
}

/** Contacts that one look at part of an address or a name goes through. */
const LOOKED_AT = 20_000

/** A page, or as much of it as is found in a moment: no index knows parts of words. */
export async function searchContacts(
  sql: Sql,
  workspaceId: string,
  { address, q }: ContactFilter,
  cursor: Cursor,
  { patienceMs = PATIENCE_MS, lookedAt = LOOKED_AT } = {},
): Promise<ContactPage> {
  const { ids, searchedUntil } = await searchOn(cursor, patienceMs, async (rest) => {
    const order = isBackwards(rest) ? 'asc' : 'desc'
    const { rows } = await sql.query<{ ids: string[]; until: string | null }>(
      `with candidates as materialized (
         select id, folded_address, name from postrider.contacts
         where workspace_id = $1 and ($2::text is null or folded_address = $2)
           and ($4::uuid is null or id < $4) and ($5::uuid is null or id > $5)
         order by id ${order} limit case when $3::text is null then $6 else $7::int end
       ), found as materialized (
         select id from candidates
         where $3::text is null or position(lower($3) in folded_address) > 0 or ${NAMED('$3')}
         order by id ${order} limit $6
       )
       select array(select id from found order by id desc) as ids,
         case when $3::text is not null and (select count(*) from found) < $6
           then (select id from candidates order by id ${order} offset $7::int - 1 limit 1) end as until`,
      [workspaceId, address ?? null, q ?? null, rest.after ?? null, rest.before ?? null, rest.limit, lookedAt],
    )
    return { ids: rows[0]!.ids, searchedUntil: rows[0]!.until }
  })
  const { rows } = await sql.query<Contact>(
    `select ${COLUMNS} from postrider.contacts where workspace_id = $1 and id = any ($2::uuid[]) order by id desc`,
    [workspaceId, ids],
  )
  return { contacts: rows, searchedUntil }
}

/** Null when there is no such contact. Throws the database's unique violation when the address is another's. */
export async function updateContact(
  sql: Sql,
  workspaceId: string,
  id: string,
  { address, foldedAddress, name, attributes, timezone }: NewContact,
): Promise<Contact | null> {
  const { rows } = await sql.query<Contact>(
    `update postrider.contacts set address = $3, folded_address = $4, name = $5, attributes = $6, timezone = $7,
       updated_at = ${sql.now}
     where workspace_id = $1 and id = $2 returning ${COLUMNS}`,
    [workspaceId, id, address, foldedAddress, name, JSON.stringify(attributes), timezone],
  )
  return rows[0] ?? null
}

/** Locked until the transaction ends, so that a change is made to what was read. */
export async function lockContact(sql: Sql, workspaceId: string, id: string): Promise<Contact | null> {
  const { rows } = await sql.query<Contact>(
    `select ${COLUMNS} from postrider.contacts where workspace_id = $1 and id = $2 for update`,
    [workspaceId, id],
  )
  return rows[0] ?? null
}

/** It leaves its lists with it; what its address opted out of stays. */
export async function deleteContact(sql: Sql, workspaceId: string, id: string): Promise<boolean> {
  if (!isId(id)) return false
  const { rowCount } = await sql.query(`delete from postrider.contacts where workspace_id = $1 and id = $2`, [
    workspaceId,
    id,
  ])
  return rowCount === 1
}

export interface UpsertedContact {
  readonly id: string
  readonly foldedAddress: string
  readonly created: boolean
  /** What was given did not fit beside the attributes it has, which stay as they were. */
  readonly crowded: boolean
}

/** The database writes spaces where we write none. */
const MOST_WRITTEN_BYTES = 2 * MOST_ATTRIBUTE_BYTES

/**
 * Makes contacts, or merges into those that have the address: new attributes win and others stay; a name and a time zone
 * are overwritten only by others. One statement for any number, in the order of addresses, so that two callers cannot
 * wait for each other. Nothing about opt-outs and suppressions is read or written: they name addresses, and stay.
 *
 * Rows that name one address several times are one, the later over the earlier: the statement cannot meet a row twice.
 * `importId`: contacts are stamped with the instant at which that import began, by which it knows them again.
 */
export async function upsertContacts(
  sql: Sql,
  workspaceId: string,
  rows: readonly NewContact[],
  importId: string | null = null,
): Promise<UpsertedContact[]> {
  if (rows.length === 0) return []
  const given = mergeByAddress(rows).map((row) => ({ ...row, id: newId() }))
  const merged = `contacts.attributes || excluded.attributes`
  const { rows: written } = await sql.query<UpsertedContact>(
    `with given as materialized (
       select * from jsonb_to_recordset($2::jsonb)
         as given (id uuid, address text, "foldedAddress" text, name text, attributes jsonb, timezone text)
     ), stamp as materialized (
       select coalesce((select created_at from postrider.imports where id = $3), ${sql.now}) as at
     ), written as (
       insert into postrider.contacts (id, workspace_id, address, folded_address, name, attributes, timezone,
         created_at, updated_at)
       select id, $1, address, "foldedAddress", name, attributes, timezone, stamp.at, stamp.at from given, stamp
       order by "foldedAddress"
       on conflict (workspace_id, folded_address) do update set address = excluded.address,
         name = coalesce(excluded.name, contacts.name), timezone = coalesce(excluded.timezone, contacts.timezone),
         attributes = case
           when excluded.attributes = '{}' then contacts.attributes
           when octet_length((${merged})::text) <= ${MOST_WRITTEN_BYTES}
             and (select count(*) from jsonb_object_keys(${merged})) <= ${MOST_ATTRIBUTES} then ${merged}
           else contacts.attributes end,
         updated_at = excluded.updated_at
       returning id, folded_address, attributes)
     select written.id, folded_address as "foldedAddress", written.id = given.id as created,
       not written.attributes @> given.attributes as crowded
     from written join given on given."foldedAddress" = written.folded_address`,
    [workspaceId, JSON.stringify(given), importId],
  )
  return written
}

/** Later over earlier, as if they had come one by one. */
function mergeByAddress(rows: readonly NewContact[]): NewContact[] {
  const merged = new Map<string, NewContact>()
  for (const row of rows) {
    const known = merged.get(row.foldedAddress)
    merged.set(
      row.foldedAddress,
      known
        ? {
            ...row,
            name: row.name ?? known.name,
            attributes: { ...known.attributes, ...row.attributes },
            timezone: row.timezone ?? known.timezone,
          }
        : row,
    )
  }
  return [...merged.values()]
}

/**
 * Which of these folded addresses an import has brought already. One look into the index for each: given a list of them,
 * the planner reads the whole table as soon as it is large, which made a million rows take ten minutes.
 */
export async function findImported(
  sql: Sql,
  workspaceId: string,
  importId: string,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql.query<{ address: string }>(
    `select given.address from unnest($3::text[]) as given (address), lateral (
       select from postrider.contacts where workspace_id = $1 and folded_address = given.address
         and updated_at = (select created_at from postrider.imports where id = $2) limit 1) known`,
    [workspaceId, importId, addresses],
  )
  return new Set(rows.map(({ address }) => address))
}
