import { sampleAudience } from '../db/campaign-audience.js'
import { findCampaignSenders } from '../db/campaign-steps.js'
import type { Campaign } from '../db/campaigns.js'
import { findList } from '../db/lists.js'
import { readNow } from '../db/sender-days.js'
import { findSender, type Sender } from '../db/senders.js'
import { findSequence } from '../db/sequences.js'
import { findTemplate } from '../db/templates.js'
import { getNextSendingSlot, OPEN_PACE } from '../domain/pace.js'
import { checkPace } from '../domain/read-pace.js'
import type { SequenceGraph } from '../domain/sequence.js'
import { sayProblem } from '../domain/say-problem.js'
import type { Context } from './context.js'
import { type Check, checkSender, checkTemplate, say } from './launch-checks.js'

/** So many people are rendered for in advance; each for every email of the sequence. */
const RENDERED = 50

/** What is looked at before a campaign of a sequence is launched. */
export async function checkSequence(context: Context, campaign: Campaign, scheduledAt: Date | null): Promise<Check[]> {
  const { db } = context
  const { workspaceId, listId, id } = campaign
  const [members, sequence, list, now, chosen] = await Promise.all([
    sampleAudience(db, workspaceId, listId, RENDERED),
    findSequence(db, workspaceId, campaign.sequenceId ?? ''),
    findList(db, workspaceId, listId),
    readNow(db),
    findCampaignSenders(db, id),
  ])
  const senders: (Sender | null)[] = []
  for (const { senderId } of chosen) senders.push(await findSender(db, workspaceId, senderId))
  const later = scheduledAt !== null && scheduledAt > now
  const checks: Check[] = [
    members.length > 0
      ? say('audience', 'ok', 'The list has people to send to.')
      : say('audience', 'warning', 'Nobody on the list can be mailed: only who is enrolled beside it gets anything.'),
    ...senders.flatMap((sender) => [
      checkSender(sender, later || senders.length > 1),
      ...(sender ? [checkSlots(sender, scheduledAt ?? now)] : []),
    ]),
  ]
  if (senders.length > 0 && senders.every((sender) => sender?.pausedReason) && !later)
    checks.push(say('sender', 'error', 'All of its senders are paused.'))
  if (!sequence) return [...checks, say('template', 'error', 'Its sequence was removed. Choose another.')]
  const sender = senders.find((one) => one !== null) ?? null
  for (const node of sends(sequence.graph)) {
    const template = await findTemplate(db, workspaceId, node.templateId)
    const shown = template && { ...template, subject: node.subject ?? template.subject }
    const found = checkTemplate(context, campaign, { members, template: shown, sender, listName: list?.name ?? '' })
    checks.push(...found.map((check) => ({ ...check, detail: `Step ${node.id}: ${check.detail}` })))
  }
  return checks
}

const sends = ({ nodes }: SequenceGraph) => nodes.flatMap((node) => (node.type === 'send' ? [node] : []))

/** Once more what was looked at when it was saved: a timezone can go out of use, and days can be blacked out. */
function checkSlots(sender: Sender, from: Date): Check {
  const pace = sender.pace ?? OPEN_PACE
  const [problem] = checkPace(pace)
  if (problem) return say('window', 'error', `The pace of ${sender.address}: ${sayProblem(problem)}.`)
  const slot = getNextSendingSlot(pace, from)
  return slot
    ? say('window', 'ok', `The window of ${sender.address} is open from ${slot.toISOString()}.`)
    : say('window', 'error', `The pace of ${sender.address} has no day on which it sends.`)
}
