import type { Sql } from '../db/client.js'
import { insertEvent } from '../db/events.js'
import { deleteOptOut, insertOptOut, type OptOutSource } from '../db/opt-outs.js'
import { lockWalks } from '../db/enrollments.js'
import { findCampaignEmail, findLinkedList, findWalksOfList, skipUnsubscribed } from '../db/unsubscribe.js'
import { foldAddress, maskAddress } from '../domain/address.js'
import { showId } from '../id.js'
import type { Link } from '../link-signer.js'
import type { Context } from './context.js'
import { walkEnrollment } from './walk-enrollment.js'

/** What an unsubscribe link shows and does. No login: whoever has the mail may say so. */
export interface Subscription {
  readonly listName: string
  /** Enough to recognise one's own. */
  readonly maskedAddress: string
  readonly optedOut: boolean
}

/** Null for a token that is none, and for a list that is gone. Changes nothing. */
export async function readSubscription(context: Context, token: string): Promise<Subscription | null> {
  const link = context.readLink(token)
  const list = link && (await findLinkedList(context.db, link.listId, foldAddress(link.address)))
  return list && toSubscription(link, list.name, list.optedOut)
}

/** Acts at once, in one transaction, and is the same when it is said again. */
export async function unsubscribe(context: Context, token: string, source: OptOutSource): Promise<Subscription | null> {
  return act(context, token, async (tx, link, workspaceId) => {
    const foldedAddress = foldAddress(link.address)
    const isNew = await insertOptOut(tx, link.listId, foldedAddress, source)
    // Also when it was said before: what was planned since must not go out either.
    const skipped = await skipUnsubscribed(tx, workspaceId, { ...link, foldedAddress })
    const stopped = await stopWalks(tx, context, workspaceId, { ...link, foldedAddress })
    if (isNew) await tell(tx, workspaceId, link, 'unsubscribed', source)
    context.log.info({ list: link.listId, isNew, skipped: skipped.length, stopped }, 'unsubscribed')
    return true
  })
}

/** For a mistaken click. What was skipped meanwhile stays so. */
export async function resubscribe(context: Context, token: string): Promise<Subscription | null> {
  return act(context, token, async (tx, link, workspaceId) => {
    const isNew = await deleteOptOut(tx, link.listId, foldAddress(link.address))
    if (isNew) await tell(tx, workspaceId, link, 'resubscribed', 'link')
    context.log.info({ list: link.listId, isNew }, 'resubscribed')
    return false
  })
}

/** Whoever walks a sequence for the list is out of it. */
async function stopWalks(
  tx: Sql,
  context: Context,
  workspaceId: string,
  of: { readonly listId: string; readonly contactId: string; readonly foldedAddress: string },
): Promise<number> {
  let stopped = 0
  const happening = { kind: 'event' as const, event: 'unsubscribed' }
  for (const enrollment of await lockWalks(tx, workspaceId, await findWalksOfList(tx, workspaceId, of)))
    if (await walkEnrollment(tx, enrollment, happening, context)) stopped++
  return stopped
}

async function act(
  context: Context,
  token: string,
  work: (tx: Sql, link: Link, workspaceId: string) => Promise<boolean>,
): Promise<Subscription | null> {
  const link = context.readLink(token)
  if (!link) return null
  return context.db.transaction(async (tx) => {
    const list = await findLinkedList(tx, link.listId, foldAddress(link.address))
    return list && toSubscription(link, list.name, await work(tx, link, list.workspaceId))
  })
}

async function tell(tx: Sql, workspaceId: string, link: Link, type: string, source: OptOutSource): Promise<void> {
  const { listId, contactId, campaignId, address } = link
  await insertEvent(tx, workspaceId, {
    emailId: campaignId === null ? null : await findCampaignEmail(tx, workspaceId, campaignId, contactId),
    contactId,
    type,
    payload: {
      recipient: foldAddress(address),
      source,
      list_id: showId('lst', listId),
      contact_id: showId('ctc', contactId),
      campaign_id: campaignId === null ? null : showId('cmp', campaignId),
    },
  })
}

const toSubscription = (link: Link, listName: string, optedOut: boolean): Subscription => ({
  listName,
  maskedAddress: maskAddress(link.address),
  optedOut,
})
