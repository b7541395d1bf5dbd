import { sampleAudience } from '../db/campaign-audience.js'
import type { Campaign } from '../db/campaigns.js'
import { findList } from '../db/lists.js'
import { readNow } from '../db/sender-days.js'
import { findSender, type Sender } from '../db/senders.js'
import { findTemplate } from '../db/templates.js'
import { getNextSendingSlot } from '../domain/pace.js'
import { sayInstant } from '../domain/say-instant.js'
import type { Context } from './context.js'
import { type Check, checkSender, checkTemplate, say } from './launch-checks.js'
import { checkSequence } from './preflight-sequence.js'

export interface Preflight {
  readonly ok: boolean
  readonly checks: readonly Check[]
}

/** So many people are rendered for in advance, exactly as they will be when their turn comes. */
const RENDERED = 200

export async function preflightCampaign(
  context: Context,
  campaign: Campaign,
  scheduledAt: Date | null = campaign.scheduledAt,
): Promise<Preflight> {
  const checks = await (campaign.sequenceId === null ? checkBulk : checkSequence)(context, campaign, scheduledAt)
  const now = await readNow(context.db)
  const { expiresAt } = campaign
  if (expiresAt && expiresAt <= (scheduledAt ?? now))
    checks.push(say('time', 'error', 'It expires before it starts: nothing would ever go out.'))
  return { ok: checks.every(({ level }) => level !== 'error'), checks }
}

async function checkBulk(context: Context, campaign: Campaign, scheduledAt: Date | null): Promise<Check[]> {
  const { db } = context
  const { workspaceId, listId } = campaign
  const [members, template, sender, list, now] = await Promise.all([
    sampleAudience(db, workspaceId, listId, RENDERED),
    findTemplate(db, workspaceId, campaign.templateId ?? ''),
    findSender(db, workspaceId, campaign.senderId),
    findList(db, workspaceId, listId),
    readNow(db),
  ])
  return [
    members.length > 0
      ? say('audience', 'ok', 'The list has people to send to.')
      : say(
          'audience',
          'error',
          'Nobody on the list can be mailed: it is empty, or all have opted out or are suppressed.',
        ),
    checkSender(sender, scheduledAt !== null && scheduledAt > now),
    ...checkTemplate(context, campaign, { members, template, sender, listName: list?.name ?? '' }),
    ...checkWindow(campaign, sender, scheduledAt ?? now),
  ]
}

function checkWindow({ followPace }: Campaign, sender: Sender | null, from: Date): Check[] {
  if (!followPace || !sender) return []
  if (!sender.pace)
    return [
      say(
        'window',
        'error',
        'It is to keep to its sender’s pace, but the sender has none. Set one, or turn follow_pace off.',
      ),
    ]
  const slot = getNextSendingSlot(sender.pace, from)
  if (!slot) return [say('window', 'error', 'Its sender’s pace has no day on which it sends.')]
  const opens = slot > from ? `opens ${sayInstant(slot)}, and it begins then` : 'is open when it begins'
  return [say('window', 'ok', `The sender’s window ${opens}.`)]
}
