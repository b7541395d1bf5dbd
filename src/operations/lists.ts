import { sayProblems } from '../domain/say-problem.js'
import { findMember, type Member } from '../db/list-members.js'
import { deleteList, findCampaignsOf, findList, insertList, leaveList, type List, updateList } from '../db/lists.js'
import { deleteOptOut, insertOptOut } from '../db/opt-outs.js'
import { skipUnsubscribed } from '../db/unsubscribe.js'
import { type Problem, PostriderError } from '../errors.js'
import { newId } from '../id.js'
import type { Context } from './context.js'

export interface ListInput {
  readonly name?: string | undefined
  readonly description?: string | null | undefined
}

const LONGEST_NAME = 200
const LONGEST_DESCRIPTION = 2_000

export async function createList(context: Context, workspaceId: string, input: ListInput): Promise<List> {
  const made = await insertList(context.db, workspaceId, newId(), readFields(input, null))
  if (!made) throw nameTaken()
  return made
}

export async function changeList(context: Context, workspaceId: string, id: string, input: ListInput): Promise<List> {
  const known = await findList(context.db, workspaceId, id)
  if (!known) throw noSuchList()
  const changed = await updateList(context.db, workspaceId, id, readFields(input, known)).catch((error: unknown) => {
    throw (error as { code?: unknown }).code === '23505' ? nameTaken() : error
  })
  if (!changed) throw noSuchList()
  return changed
}

/** With its opt-outs: they are about this list. The contacts stay. */
export async function removeList(context: Context, workspaceId: string, id: string): Promise<void> {
  try {
    if (!(await deleteList(context.db, workspaceId, id))) throw noSuchList()
  } catch (error) {
    if ((error as { code?: unknown }).code !== '23503') throw error
    const names = (await findCampaignsOf(context.db, id)).map((name) => JSON.stringify(name)).join(', ')
    throw new PostriderError('list_conflict', `The list is what a campaign goes to (${names}): remove that first.`)
  }
}

/** The only way, besides what somebody says themselves, by which a subscription ends or begins again. */
export async function setSubscription(
  context: Context,
  workspaceId: string,
  listId: string,
  contactId: string,
  subscribed: boolean,
): Promise<Member> {
  return context.db.transaction(async (tx) => {
    if (!(await findList(tx, workspaceId, listId))) throw noSuchList()
    const member = await findMember(tx, listId, contactId)
    if (!member) throw notOnList()
    if (subscribed) await deleteOptOut(tx, listId, member.foldedAddress)
    else {
      const { foldedAddress } = member
      await insertOptOut(tx, listId, foldedAddress, 'manual')
      await skipUnsubscribed(tx, workspaceId, { listId, contactId, foldedAddress })
    }
    return { ...member, subscribed }
  })
}

/** An opt-out stays: whoever is put on the list again is still not mailed. */
export async function removeFromList(
  context: Context,
  workspaceId: string,
  listId: string,
  contactId: string,
): Promise<void> {
  if (!(await findList(context.db, workspaceId, listId))) throw noSuchList()
  if (!(await leaveList(context.db, listId, contactId))) throw notOnList()
}

function readFields({ name, description }: ListInput, known: List | null) {
  const problems: Problem[] = []
  const chosen = name === undefined ? known?.name : name.trim()
  if (chosen === undefined || chosen === '') problems.push({ path: ['name'], detail: 'is needed' })
  else if (chosen.length > LONGEST_NAME || /[\p{Cc}\u2028\u2029]/u.test(chosen))
    problems.push({
      path: ['name'],
      detail: `must be at most ${LONGEST_NAME} characters without control characters`,
    })
  if (description && (description.length > LONGEST_DESCRIPTION || description.includes('\0')))
    problems.push({ path: ['description'], detail: `must be at most ${LONGEST_DESCRIPTION} characters` })
  if (problems.length > 0) throw new PostriderError('list_invalid', sayProblems(problems), { problems })
  return { name: chosen!, description: description === undefined ? (known?.description ?? null) : description }
}

const noSuchList = () => new PostriderError('list_not_found', 'There is no such list.')
const nameTaken = () => new PostriderError('list_conflict', 'Another list of this workspace has this name.')
const notOnList = () => new PostriderError('contact_not_found', 'There is no such contact on this list.')
