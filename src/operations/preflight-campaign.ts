import { type AudienceMember, sampleAudience } from '../db/campaign-audience.js'
import type { Campaign } from '../db/campaigns.js'
import { findList } from '../db/lists.js'
import { readNow } from '../db/sender-days.js'
import { findSender, type Sender } from '../db/senders.js'
import { findTemplate, type Template } from '../db/templates.js'
import { getNextSendingSlot } from '../domain/pace.js'
import { newId } from '../id.js'
import type { Context } from './context.js'
import { toContent } from './load-delivery.js'

/** What is looked at before a campaign is launched. With an error it is not; a warning is only said. */
export interface Check {
  readonly check: 'audience' | 'template' | 'unsubscribe' | 'sender' | 'window' | 'time'
  readonly level: 'ok' | 'warning' | 'error'
  readonly detail: string
}

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
  const { db } = context
  const { workspaceId, listId } = campaign
  const [members, template, sender, list, now] = await Promise.all([
    sampleAudience(db, workspaceId, listId, RENDERED),
    findTemplate(db, workspaceId, campaign.templateId),
    findSender(db, workspaceId, campaign.senderId),
    findList(db, workspaceId, listId),
    readNow(db),
  ])
  const checks: Check[] = [
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
  const { expiresAt } = campaign
  if (expiresAt && expiresAt <= (scheduledAt ?? now))
    checks.push(say('time', 'error', 'It expires before it starts: nothing would ever go out.'))
  return { ok: checks.every(({ level }) => level !== 'error'), checks }
}

function checkSender(sender: Sender | null, later: boolean): Check {
  if (!sender) return say('sender', 'error', 'Its sender was removed. Choose another.')
  if (sender.pausedReason !== null)
    return say('sender', later ? 'warning' : 'error', `Its sender is paused: ${sender.pausedReason}`)
  if (sender.provider === 'capture')
    return say('sender', 'warning', 'Its sender keeps everything in the dev inbox: nothing leaves the building.')
  return say('sender', 'ok', `It goes out as ${sender.address}.`)
}

function checkTemplate(
  { renderer }: Context,
  campaign: Campaign,
  of: { members: readonly AudienceMember[]; template: Template | null; sender: Sender | null; listName: string },
): Check[] {
  const { members, template, sender, listName } = of
  if (!template) return [say('template', 'error', 'Its template was removed. Choose another.')]
  if (!sender) return []
  const launched = { ...campaign, campaignId: campaign.id, campaignName: campaign.name, listName }
  const from = { fromName: sender.name, fromAddress: sender.address }
  const content = toContent({ ...launched, ...from, ...template, templateVersion: template.version })
  const refused = members.flatMap((member) => {
    const rendered = renderer.render(content, { ...member, contactId: member.id }, { id: newId(), date: new Date(0) })
    return rendered.ok ? [] : [rendered.problem]
  })
  const said = [...new Set(refused)].slice(0, 3).join(' ')
  const own = `${template.html ?? ''}${template.text ?? ''}`.includes('unsubscribe_url')
  return [
    refused.length === 0
      ? say('template', 'ok', `It was rendered for the first ${people(members.length)}.`)
      : say(
          'template',
          'error',
          `It cannot be rendered for ${refused.length} of the first ${people(members.length)}: ${said}`,
        ),
    own
      ? say('unsubscribe', 'ok', 'The template has its own unsubscribe link.')
      : say(
          'unsubscribe',
          'warning',
          'The template has no {{ unsubscribe_url }}: a line with the link is added at its end.',
        ),
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
  return slot
    ? [say('window', 'ok', `The sender’s window is open from ${slot.toISOString()}.`)]
    : [say('window', 'error', 'Its sender’s pace has no day on which it sends.')]
}

const people = (count: number) => (count === 1 ? 'person' : `${count} people`)
const say = (check: Check['check'], level: Check['level'], detail: string): Check => ({ check, level, detail })
