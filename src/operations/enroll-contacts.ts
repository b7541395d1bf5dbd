import type { Candidate } from '../db/campaign-lists.js'
import { findCampaignSenders } from '../db/campaign-steps.js'
import { type Campaign, countEnrolled } from '../db/campaigns.js'
import type { Sql } from '../db/client.js'
import { finishEnrollment, insertEnrollments, type NewEnrollment } from '../db/enrollments.js'
import { scheduleActions } from '../db/schedule-actions.js'
import { type NewStep, scheduleSteps } from '../db/schedule-steps.js'
import { readNow } from '../db/sender-days.js'
import { findSender } from '../db/senders.js'
import { findSequenceGraph } from '../db/sequences.js'
import { lockSlotBook, saveSlotBook } from '../db/slot-book.js'
import { chooseSender } from '../domain/choose-sender.js'
import { giveBackSlot, type SlotBook } from '../domain/slots.js'
import { decideWalk, type Walk } from '../domain/walk.js'
import { newId } from '../id.js'
import { contactData } from '../templates/render-campaign-email.js'
import { type PlannedWalk, planWalk } from './plan-walk.js'
import type { WalkOptions } from './walk-enrollment.js'

/** What became of the people that were looked at. */
export interface Enrolled {
  readonly enrolled: number
  /** Emails planned for them. */
  readonly scheduled: number
  readonly unsubscribed: number
  readonly suppressed: number
  /** Who walks the sequence already, in this campaign or another, or has. */
  readonly enrolledBefore: number
  readonly errors: readonly string[]
}

export const NOBODY: Enrolled = {
  enrolled: 0,
  scheduled: 0,
  unsubscribed: 0,
  suppressed: 0,
  enrolledBefore: 0,
  errors: [],
}

export const addEnrolled = (one: Enrolled, other: Enrolled): Enrolled => ({
  enrolled: one.enrolled + other.enrolled,
  scheduled: one.scheduled + other.scheduled,
  unsubscribed: one.unsubscribed + other.unsubscribed,
  suppressed: one.suppressed + other.suppressed,
  enrolledBefore: one.enrolledBefore + other.enrolledBefore,
  errors: [...one.errors, ...other.errors].slice(0, MOST_ERRORS),
})

const MOST_ERRORS = 100

/**
 * Enrolls people in a campaign of a sequence: each gets a sender, an enrollment, and the emails of its first stretch with
 * their slots, all in the caller's transaction. So whoever is enrolled has its emails planned and booked, and a crash
 * leaves neither.
 *
 * Called under `lockCampaign`. The books of all its senders are locked in the order of their ids before anything is
 * written. Who is enrolled already is decided by the unique key when the rows are written; what was planned for them is
 * given back before it is saved.
 */
export async function enrollContacts(
  tx: Sql,
  campaign: Campaign,
  candidates: readonly Candidate[],
  { random }: WalkOptions,
): Promise<Enrolled> {
  const { id: campaignId, workspaceId, sequenceId, sequenceVersion, expiresAt } = campaign
  if (!sequenceId || sequenceVersion === null) throw new Error(`${campaignId} has no sequence`)
  const graph = await findSequenceGraph(tx, workspaceId, sequenceId, sequenceVersion)
  if (!graph) throw new Error(`sequence ${sequenceId} has no version ${sequenceVersion}`)
  const open = candidates.filter(({ unsubscribed, suppressed }) => !unsubscribed && !suppressed)
  const now = await readNow(tx)
  const senders = open.length === 0 ? [] : await lockSenders(tx, campaign, now)
  const errors: string[] = []
  const plans: Planned[] = []
  for (const candidate of open) {
    const { id: contactId, address: recipient } = candidate
    const attributes = contactData(candidate)
    const sender = chooseSender(senders, now) ?? senders[0]
    if (!sender) {
      errors.push(`${recipient}: the campaign has no sender any more.`)
      continue
    }
    const walk = decideWalk(graph, null, { kind: 'enrolled' }, { attributes, events: NOTHING, recentEvents: NOTHING })
    const enrollmentId = newId()
    const walker = { enrollmentId, campaignId, sequenceId, contactId, recipient, expiresAt, visit: FIRST_VISIT }
    const plan = planWalk(walk, walker, { book: sender.book, now, random })
    if (plan.steps.some(({ bookedOn }) => bookedOn === null))
      errors.push(`${recipient}: its sender has no day in sight on which it sends. It is looked at again tomorrow.`)
    const { nodeId, arrived } = walk.position
    const enrollment = { id: enrollmentId, campaignId, sequenceId, contactId, senderId: sender.id, nodeId, arrived }
    plans.push({ enrollment: { ...enrollment, visit: FIRST_VISIT }, walk, plan, book: sender.book })
  }
  const written = await insertEnrollments(
    tx,
    workspaceId,
    plans.map(({ enrollment }) => enrollment),
  )
  for (const { enrollment, plan, book } of plans) if (!written.has(enrollment.id)) giveBack(book, plan.steps)
  const kept = plans.filter(({ enrollment }) => written.has(enrollment.id))
  const steps = kept.flatMap(({ plan }) => plan.steps)
  const scheduled = await scheduleSteps(tx, workspaceId, steps)
  for (const { plan, book } of kept)
    giveBack(
      book,
      plan.steps.filter(({ id }) => !scheduled.has(id)),
    )
  for (const { id, book } of senders) await saveSlotBook(tx, id, book)
  await scheduleActions(
    tx,
    workspaceId,
    kept.flatMap(({ plan }) => plan.timers),
  )
  for (const { enrollment, walk } of kept) {
    const end = walk.effects.find(({ kind }) => kind === 'complete' || kind === 'stop')
    if (end) await finishEnrollment(tx, enrollment, end.kind === 'stop' ? end : null)
  }
  const enrolled: Enrolled = {
    enrolled: kept.length,
    scheduled: scheduled.size,
    unsubscribed: candidates.filter(({ unsubscribed }) => unsubscribed).length,
    suppressed: candidates.filter(({ unsubscribed, suppressed }) => suppressed && !unsubscribed).length,
    enrolledBefore: plans.length - kept.length,
    errors,
  }
  await countEnrolled(tx, campaign, enrolled)
  return enrolled
}

interface Planned {
  readonly enrollment: NewEnrollment
  readonly walk: Walk
  readonly plan: PlannedWalk
  readonly book: SlotBook
}

const NOTHING: ReadonlySet<string> = new Set()
const FIRST_VISIT = 1

const giveBack = (book: SlotBook, steps: readonly NewStep[]): void => {
  for (const { bookedOn, slotAt } of steps) if (bookedOn !== null) giveBackSlot(book, { day: bookedOn, at: slotAt })
}

/** Those that are paused are passed over as long as another is not. */
async function lockSenders(tx: Sql, { id, workspaceId }: Campaign, now: Date) {
  const found = []
  for (const { senderId } of await findCampaignSenders(tx, id)) {
    const sender = await findSender(tx, workspaceId, senderId)
    if (sender) found.push(sender)
  }
  const awake = found.filter(({ pausedReason }) => pausedReason === null)
  const books = []
  for (const sender of awake.length > 0 ? awake : found)
    books.push({ id: sender.id, book: await lockSlotBook(tx, sender, now) })
  return books
}
