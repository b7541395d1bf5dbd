import { startBatches } from '../db/campaign-batches.js'
import { beginList, countUnread, readCandidates } from '../db/campaign-lists.js'
import { findCampaignSenders, freezeSenders, freezeSteps } from '../db/campaign-steps.js'
import { type Campaign, launch, lockCampaign, setStatus } from '../db/campaigns.js'
import type { Sql } from '../db/client.js'
import { configureLane, holdLaneWith } from '../db/lanes.js'
import { findList } from '../db/lists.js'
import { findSender } from '../db/senders.js'
import { findSequence } from '../db/sequences.js'
import { OUTREACH_LANE } from '../domain/lane.js'
import { stepNumbers } from '../domain/sequence.js'
import { PostriderError } from '../errors.js'
import { showId } from '../id.js'
import { campaignNotFound } from './campaigns.js'
import type { Context } from './context.js'
import { addEnrolled, type Enrolled, enrollContacts, NOBODY } from './enroll-contacts.js'
import { runEnrollTurn } from './run-enroll-turn.js'
import { closeCampaign } from './walk-enrollment.js'

/**
 * Freezes what a draft of a sequence sends and as whom: its newest version, the newest version of each template, its
 * senders as they are. Called under `lockCampaign`, for a draft. People are enrolled by its turns.
 */
export async function freezeSequence(tx: Sql, draft: Campaign, scheduledAt: Date | null): Promise<Campaign> {
  const { id, workspaceId, listId } = draft
  const sequence = await findSequence(tx, workspaceId, draft.sequenceId ?? '')
  if (!sequence) throw notReady('The sequence of the campaign was removed.')
  const senders = []
  for (const { senderId } of await findCampaignSenders(tx, id)) {
    const sender = await findSender(tx, workspaceId, senderId)
    if (sender) senders.push(sender)
  }
  const first = senders.find((sender) => sender.id === draft.senderId) ?? senders[0]
  if (!first) throw notReady('The senders of the campaign were removed.')
  await freezeSenders(tx, id, senders)
  const numbers = stepNumbers(sequence.graph)
  const steps = sequence.graph.nodes.flatMap((node) =>
    node.type === 'send' ? [{ ...node, nodeId: node.id, stepNumber: numbers.get(node.id)! }] : [],
  )
  if ((await freezeSteps(tx, id, steps)) < steps.length) throw notReady('A template of its sequence was removed.')
  await configureLane(tx, workspaceId, id, OUTREACH_LANE)
  // With one sender the lane stands still with it; with several each email asks about its own.
  if (senders.length === 1) await holdLaneWith(tx, workspaceId, id, first.id)
  const from = { name: first.name, address: first.address }
  const launched = await launch(tx, draft, { sequenceVersion: sequence.version, from, scheduledAt })
  await beginList(tx, id, listId)
  await startBatches(tx, launched, launched.scheduledAt ?? undefined)
  return launched
}

const notReady = (why: string) => new PostriderError('campaign_not_ready', why)

/** What a launch, or whoever enrolls, gets to know. */
export interface EnrolledNow extends Enrolled {
  /** People who are enrolled by the campaign's next turns, because there are too many for one request. */
  readonly remaining: number
}

/** A request enrolls page by page for this long, unless it says how long; the rest is the turns' business. */
const PATIENCE_MS = 3_000

export interface Patience {
  readonly withinMs?: number | undefined
}

/**
 * Enrolls within the request what fits into it. The campaign's own turns may do so at the same moment: each page is one
 * transaction under the campaign's lock, and goes on where the last one ended, whoever wrote it.
 */
export async function enrollNow(
  context: Context,
  workspaceId: string,
  id: string,
  { withinMs = PATIENCE_MS }: Patience = {},
): Promise<EnrolledNow> {
  let all: Enrolled = NOBODY
  const deadline = performance.now() + withinMs
  for (;;) {
    const page = await context.db.transaction(async (tx) => {
      const campaign = await lockCampaign(tx, workspaceId, id)
      return campaign?.status === 'running' ? runEnrollTurn(tx, campaign, context) : null
    })
    if (!page) break
    all = addEnrolled(all, page)
    if (performance.now() > deadline) break
  }
  context.wake(true)
  return { ...all, remaining: await countUnread(context.db, id) }
}

/** People for one request: the rest in another. */
export const MOST_CONTACTS = 1_000

export type Enrollees = { readonly contactIds: readonly string[] } | { readonly listId: string }

/** Enrolls more people in a campaign that was launched; one that was over goes on. */
export async function enrollInCampaign(
  context: Context,
  workspaceId: string,
  id: string,
  enrollees: Enrollees,
  patience: Patience = {},
): Promise<EnrolledNow> {
  if ('listId' in enrollees) {
    await context.db.transaction(async (tx) => {
      const campaign = await lockLaunched(tx, workspaceId, id)
      if (!(await findList(tx, workspaceId, enrollees.listId)))
        throw new PostriderError('list_not_found', 'There is no such list.')
      await beginList(tx, id, enrollees.listId)
      await startBatches(tx, await reopen(tx, campaign))
    })
    return enrollNow(context, workspaceId, id, patience)
  }
  const contactIds = [...new Set(enrollees.contactIds)]
  let all: Enrolled = NOBODY
  for (let from = 0; from < contactIds.length; from += PAGE) {
    const page = contactIds.slice(from, from + PAGE)
    const looked = await context.db.transaction(async (tx) => {
      const campaign = await lockLaunched(tx, workspaceId, id)
      // Their first emails would be planned from now on, and go out before it starts.
      if (campaign.startedAt === null)
        throw refuse(campaign, 'has not started yet: put them on its list, or enroll a list, and they are when it does')
      const candidates = await readCandidates(tx, workspaceId, campaign.listId, page)
      const known = new Set(candidates.map((candidate) => candidate.id))
      const missing = page.filter((contactId) => !known.has(contactId))
      const errors = missing.map((contactId) => `${showId('ctc', contactId)}: there is no such contact.`)
      if (candidates.length === 0) return { ...NOBODY, errors }
      const running = await reopen(tx, campaign)
      const enrolled = await enrollContacts(tx, running, candidates, context)
      // If they all walk already, or may not be mailed, nothing else would ever end it.
      await closeCampaign(tx, running)
      return addEnrolled({ ...NOBODY, errors }, enrolled)
    })
    all = addEnrolled(all, looked)
  }
  context.wake(true)
  return { ...all, remaining: await countUnread(context.db, id) }
}

const PAGE = 100

async function lockLaunched(tx: Sql, workspaceId: string, id: string): Promise<Campaign> {
  const campaign = await lockCampaign(tx, workspaceId, id)
  if (!campaign) throw campaignNotFound()
  if (campaign.sequenceId === null) throw refuse(campaign, 'is of a template: people are put on its list instead')
  if (campaign.status === 'draft') throw refuse(campaign, 'is a draft: launch it first')
  if (campaign.status === 'canceled') throw refuse(campaign, 'is canceled: nobody can be enrolled any more')
  return campaign
}

const refuse = ({ id }: Campaign, why: string) =>
  new PostriderError('campaign_conflict', `Campaign ${showId('cmp', id)} ${why}.`)

/** Called under `lockCampaign`. */
const reopen = async (tx: Sql, campaign: Campaign): Promise<Campaign> =>
  campaign.status === 'sent' ? setStatus(tx, campaign, 'running') : campaign

/** Looks at its list once more: whoever joined it since is enrolled, everybody else is skipped. */
export async function enrollJoined(
  context: Context,
  workspaceId: string,
  campaign: Campaign,
  patience: Patience = {},
): Promise<EnrolledNow> {
  return enrollInCampaign(context, workspaceId, campaign.id, { listId: campaign.listId }, patience)
}
