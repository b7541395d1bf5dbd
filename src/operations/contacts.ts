import {
  type Contact,
  deleteContact,
  findContact,
  lockContact,
  updateContact,
  type UpsertedContact,
  upsertContacts,
} from '../db/contacts.js'
import { countUnwilling } from '../db/list-members.js'
import { findList, joinList } from '../db/lists.js'
import { carryOptOuts } from '../db/opt-outs.js'
import { foldAddress, parseMailbox } from '../domain/address.js'
import { sayProblems } from '../domain/say-problem.js'
import {
  type ContactInput,
  findAttributesProblem,
  findNameProblem,
  type NewContact,
  readContact,
  readTimezone,
} from '../domain/contact.js'
import { type Problem, PostriderError } from '../errors.js'
import type { Context } from './context.js'

/** Something was left out of what was given; everything else was done. */
export interface ContactWarning {
  /** Of those given. */
  readonly index: number
  readonly email: string
  readonly detail: string
}

export interface SavedContact {
  readonly contact: Contact
  readonly created: boolean
  readonly warnings: readonly string[]
}

/** Makes a contact, or merges into the one with the address. */
export async function saveContact(context: Context, workspaceId: string, input: ContactInput): Promise<SavedContact> {
  const { contacts, warnings } = readContacts([input], () => [])
  return context.db.transaction(async (tx) => {
    const [saved] = await upsertContacts(tx, workspaceId, contacts)
    const contact = (await findContact(tx, workspaceId, saved!.id))!
    const all = [...warnings, ...findCrowded(contacts, [saved!])]
    return { contact, created: saved!.created, warnings: all.map(({ detail }) => detail) }
  })
}

export interface AddedContacts {
  readonly created: number
  readonly updated: number
  /** How many were not on the list before. */
  readonly joined: number
  /** Addresses that have opted out of the list or are suppressed; they stay so. */
  readonly optedOut: number
  readonly warnings: readonly ContactWarning[]
}

/** Makes or merges contacts and puts them on a list: all or none. */
export async function addToList(
  context: Context,
  workspaceId: string,
  listId: string,
  inputs: readonly ContactInput[],
): Promise<AddedContacts> {
  const { contacts, warnings } = readContacts(inputs, (index) => ['contacts', index])
  return context.db.transaction(async (tx) => {
    if (!(await findList(tx, workspaceId, listId))) throw noSuchList()
    const saved = await upsertContacts(tx, workspaceId, contacts)
    const joined = await joinList(
      tx,
      listId,
      saved.map(({ id }) => id),
    )
    const created = saved.filter((each) => each.created).length
    const addresses = saved.map(({ foldedAddress }) => foldedAddress)
    return {
      created,
      updated: saved.length - created,
      joined,
      optedOut: await countUnwilling(tx, workspaceId, listId, addresses),
      warnings: [...warnings, ...findCrowded(contacts, saved)].toSorted((a, b) => a.index - b.index),
    }
  })
}

/** What is left out stays; null takes a name, a time zone or an attribute away. */
export interface ContactChange {
  readonly email?: string | undefined
  readonly name?: string | null | undefined
  readonly attributes?: Readonly<Record<string, unknown>> | undefined
  readonly timezone?: string | null | undefined
}

/**
 * Changes a contact. Under another address it is still the same person: what was ended under the old address is ended
 * under the new one.
 */
export async function changeContact(
  context: Context,
  workspaceId: string,
  id: string,
  change: ContactChange,
): Promise<Omit<SavedContact, 'created'>> {
  try {
    return await context.db.transaction(async (tx) => {
      const known = await lockContact(tx, workspaceId, id)
      if (!known) throw noSuchContact()
      const { fields, warnings } = applyChange(known, change)
      const contact = (await updateContact(tx, workspaceId, id, fields))!
      if (contact.foldedAddress !== known.foldedAddress)
        await carryOptOuts(tx, workspaceId, { from: known.foldedAddress, to: contact.foldedAddress })
      return { contact, warnings }
    })
  } catch (error) {
    if ((error as { code?: unknown }).code !== '23505') throw error
    throw new PostriderError('contact_conflict', 'Another contact of this workspace has this address.')
  }
}

/** What its address opted out of, and its suppressions, stay. */
export async function removeContact(context: Context, workspaceId: string, id: string): Promise<void> {
  if (!(await deleteContact(context.db, workspaceId, id))) throw noSuchContact()
}

function applyChange(known: Contact, { email, name, attributes, timezone }: ContactChange) {
  const problems: Problem[] = []
  const mailbox = email === undefined ? null : parseMailbox(email)
  if (email !== undefined && !mailbox)
    problems.push({ path: ['email'], detail: 'must be one address, such as ada@example.com' })
  const nameProblem = name ? findNameProblem(name) : null
  if (nameProblem !== null) problems.push({ path: ['name'], detail: nameProblem })
  const merged = Object.fromEntries(
    Object.entries({ ...known.attributes, ...attributes }).filter(
      ([key, value]) => !(value === null && attributes && key in attributes),
    ),
  )
  const attributesProblem = attributes === undefined ? null : findAttributesProblem(merged)
  if (attributesProblem !== null) problems.push({ path: ['attributes'], detail: attributesProblem })
  refuse(problems)
  const zone = timezone === undefined ? { timezone: known.timezone, warning: null } : readTimezone(timezone)
  const address = mailbox?.address ?? known.address
  const fields: NewContact = {
    address,
    foldedAddress: foldAddress(address),
    name: name === undefined ? (mailbox?.name ?? known.name) : name?.trim() || null,
    attributes: merged,
    timezone: zone.timezone,
  }
  return { fields, warnings: zone.warning === null ? [] : [zone.warning] }
}

function readContacts(
  inputs: readonly ContactInput[],
  pathOf: (index: number) => readonly (string | number)[],
): { contacts: NewContact[]; warnings: ContactWarning[] } {
  const problems: Problem[] = []
  const warnings: ContactWarning[] = []
  const contacts = inputs.map((input, index) => {
    const { contact, problems: found, warning } = readContact(input)
    for (const { path, detail } of found) problems.push({ path: [...pathOf(index), ...path], detail })
    if (warning !== null) warnings.push({ index, email: contact.address, detail: warning })
    return contact
  })
  refuse(problems)
  return { contacts, warnings }
}

const CROWDED = 'the attributes do not fit beside those it has, which stay as they were'

function findCrowded(given: readonly NewContact[], saved: readonly UpsertedContact[]): ContactWarning[] {
  const crowded = new Set(saved.filter((each) => each.crowded).map(({ foldedAddress }) => foldedAddress))
  return given.flatMap(({ foldedAddress, address }, index) =>
    crowded.has(foldedAddress) ? [{ index, email: address, detail: CROWDED }] : [],
  )
}

function refuse(problems: readonly Problem[]): void {
  if (problems.length === 0) return
  throw new PostriderError('contact_invalid', sayProblems(problems), { problems })
}

const noSuchContact = () => new PostriderError('contact_not_found', 'There is no such contact.')
const noSuchList = () => new PostriderError('list_not_found', 'There is no such list.')
