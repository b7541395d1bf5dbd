import type { Sql } from '../db/client.js'
import { type Contact, findContact, findContactByAddress } from '../db/contacts.js'
import { findList, findListByName, type List, listLists } from '../db/lists.js'
import { foldAddress } from '../domain/address.js'
import { findClosest } from '../domain/did-you-mean.js'
import { PostriderError } from '../errors.js'
import { isId, readId } from '../id.js'

/** Contacts and lists by the words people use for them. */
const MOST_NAMES = 1_000

/** By its name, or by its id as people see it. */
export async function getList(sql: Sql, workspaceId: string, text: string): Promise<List> {
  const id = readId('lst', text) ?? (isId(text) ? text : null)
  const found = (id && (await findList(sql, workspaceId, id))) ?? (await findListByName(sql, workspaceId, text))
  if (found) return found
  const names = (await listLists(sql, workspaceId, { limit: MOST_NAMES })).map(({ name }) => name)
  const closest = findClosest(text, names)
  throw new PostriderError(
    'list_not_found',
    `There is no list ${JSON.stringify(text)}.${closest ? ` Did you mean ${JSON.stringify(closest)}?` : ' "postrider lists create" makes one, and so does "postrider import" with --create-list.'}`,
  )
}

/** By its address, or by its id as people see it. */
export async function getContact(sql: Sql, workspaceId: string, text: string): Promise<Contact> {
  const id = readId('ctc', text) ?? (isId(text) ? text : null)
  const found =
    id === null
      ? await findContactByAddress(sql, workspaceId, foldAddress(text))
      : await findContact(sql, workspaceId, id)
  if (found) return found
  throw new PostriderError(
    'contact_not_found',
    `There is no contact ${JSON.stringify(text)}. "postrider contacts list" shows them.`,
  )
}
