import { findUnreadList, moveListCursor, readMembers } from '../db/campaign-lists.js'
import type { Campaign } from '../db/campaigns.js'
import type { Sql } from '../db/client.js'
import { type Enrolled, enrollContacts, NOBODY } from './enroll-contacts.js'
import { closeCampaign, type WalkOptions } from './walk-enrollment.js'

/** People looked at in one transaction: what is held in memory, and what others who book for the same senders wait for. */
export const TURN = 100

/**
 * Enrolls the next people of a campaign's lists, in one transaction with the cursor: repeated after a crash it goes on
 * where the last one ended. Called under `lockCampaign`, so that of two launches at once one waits for the other's page.
 * Null when everybody has been looked at.
 */
export async function runEnrollTurn(tx: Sql, campaign: Campaign, options: WalkOptions): Promise<Enrolled | null> {
  const list = await findUnreadList(tx, campaign.id)
  if (!list) {
    await closeCampaign(tx, campaign)
    return null
  }
  const { workspaceId, id, listId: ownListId } = campaign
  const members = await readMembers(tx, workspaceId, list, { ownListId, limit: TURN })
  const enrolled = members.length === 0 ? NOBODY : await enrollContacts(tx, campaign, members, options)
  await moveListCursor(tx, id, list.listId, { last: members.at(-1)?.id ?? null, finished: members.length < TURN })
  return enrolled
}
