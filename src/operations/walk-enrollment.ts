import { cancelEnrollmentActions } from '../db/cancel-enrollment-actions.js'
import { findUnreadList } from '../db/campaign-lists.js'
import { type Campaign, findCampaign, lockCampaign, setStatus } from '../db/campaigns.js'
import type { Sql } from '../db/client.js'
import { findContact } from '../db/contacts.js'
import { type Enrollment, finishEnrollment, hasOpenEnrollments, moveEnrollment } from '../db/enrollments.js'
import { findContactEvents } from '../db/events.js'
import { giveBackBookings } from '../db/give-back-bookings.js'
import { scheduleActions } from '../db/schedule-actions.js'
import { scheduleSteps } from '../db/schedule-steps.js'
import { readNow } from '../db/sender-days.js'
import { findSender } from '../db/senders.js'
import { findSequenceGraph } from '../db/sequences.js'
import { lockSlotBook, saveSlotBook } from '../db/slot-book.js'
import { giveBackSlot } from '../domain/slots.js'
import { decideWalk, type Effect, type Happening } from '../domain/walk.js'
import type { Log } from '../log.js'
import type { Data } from '../templates/liquid-engine.js'
import { contactData } from '../templates/render-campaign-email.js'
import { planWalk } from './plan-walk.js'

/**
 * Moves an enrollment because something happened: its new position, the emails, waits and timeouts that follow from it,
 * and the end of those it leaves, in the caller's transaction.
 *
 * Called under `lockEnrollment`. From there the order of locks is: the campaign (when the walk ends), the sender, its
 * days. False when what happened means nothing where the enrollment is: the second of two that raced finds that.
 */
export interface WalkOptions {
  readonly log: Log
  readonly random: () => number
}

export async function walkEnrollment(
  tx: Sql,
  enrollment: Enrollment,
  happening: Happening,
  { log, random, since }: WalkOptions & { /** Events from then on are recent. */ readonly since?: Date },
): Promise<boolean> {
  if (enrollment.finishedAt) return false
  const { workspaceId, campaignId } = enrollment
  const campaign = await findCampaign(tx, workspaceId, campaignId)
  if (!campaign?.sequenceId || campaign.sequenceVersion === null) throw new Error(`${campaignId} has no sequence`)
  const graph = await findSequenceGraph(tx, workspaceId, campaign.sequenceId, campaign.sequenceVersion)
  if (!graph) throw new Error(`sequence ${campaign.sequenceId} has no version ${campaign.sequenceVersion}`)
  const contact = await findContact(tx, workspaceId, enrollment.contactId)
  const told: Happening = contact ? happening : REMOVED
  const events = await findContactEvents(tx, workspaceId, enrollment.contactId, enrollment.createdAt)
  const walk = decideWalk(graph, enrollment, told, {
    attributes: contact ? contactData({ ...contact, attributes: contact.attributes as Data }) : {},
    events: new Set(events.map(({ type }) => type)),
    recentEvents: new Set(events.filter(({ at }) => since !== undefined && at >= since).map(({ type }) => type)),
  })
  if (!walk.moved) return false
  const end = walk.effects.find((effect) => effect.kind === 'complete' || effect.kind === 'stop')
  if (end) {
    await endWalk(tx, enrollment, end.kind === 'stop' ? end : null)
    log.info(
      { enrollment: enrollment.id, campaign: campaignId, ...(end.kind === 'stop' && { why: end.code }) },
      'walked',
    )
    return true
  }
  await cancelLeft(tx, enrollment, walk.effects)
  await moveEnrollment(tx, enrollment, walk.position)
  const sender = await findSender(tx, workspaceId, enrollment.senderId)
  if (!sender) {
    await endWalk(tx, enrollment, { code: 'sender_removed', reason: 'Its sender was removed.' })
    return true
  }
  const now = await readNow(tx)
  const book = await lockSlotBook(tx, sender, now)
  const walker = {
    ...enrollment,
    enrollmentId: enrollment.id,
    recipient: contact!.address,
    visit: enrollment.visit + 1,
  }
  const plan = planWalk(walk, { ...walker, expiresAt: campaign.expiresAt }, { book, now, random })
  const written = await scheduleSteps(tx, workspaceId, plan.steps)
  for (const { id, bookedOn, slotAt } of plan.steps)
    if (!written.has(id) && bookedOn !== null) giveBackSlot(book, { day: bookedOn, at: slotAt })
  await saveSlotBook(tx, sender.id, book)
  await scheduleActions(tx, workspaceId, plan.timers)
  return true
}

const REMOVED: Happening = { kind: 'stopped', code: 'contact_removed', reason: 'The contact was removed.' }

async function cancelLeft(tx: Sql, { id, workspaceId }: Enrollment, effects: readonly Effect[]): Promise<void> {
  for (const effect of effects)
    if (effect.kind === 'cancel')
      await cancelEnrollmentActions(
        tx,
        workspaceId,
        { enrollmentId: id, nodeId: effect.nodeId ?? 'end', ...(effect.type && { type: effect.type }) },
        'the walk went on',
      )
}

/** It is over: nothing of it is pending any more, and the campaign is over with the last of them. */
async function endWalk(
  tx: Sql,
  enrollment: Enrollment,
  why: { readonly code: string; readonly reason: string } | null,
): Promise<void> {
  const { id, workspaceId, senderId, campaignId } = enrollment
  const campaign = await lockCampaign(tx, workspaceId, campaignId)
  const reason = why?.reason ?? 'the sequence was over'
  const canceled = await cancelEnrollmentActions(tx, workspaceId, { enrollmentId: id }, reason)
  await giveBackBookings(
    tx,
    canceled.map(({ bookedOn, slotAt }) => ({ senderId, bookedOn, slotAt })),
  )
  await finishEnrollment(tx, enrollment, why)
  if (campaign) await closeCampaign(tx, campaign)
}

/** Called under `lockCampaign`. */
export async function closeCampaign(tx: Sql, campaign: Campaign): Promise<boolean> {
  if (campaign.status !== 'running') return false
  if (await findUnreadList(tx, campaign.id)) return false
  if (await hasOpenEnrollments(tx, campaign.id)) return false
  await setStatus(tx, campaign, 'sent')
  return true
}
