import type { AudienceMember } from '../db/campaign-audience.js'
import type { Campaign } from '../db/campaigns.js'
import type { Sender } from '../db/senders.js'
import type { Template } from '../db/templates.js'
import { newId } from '../id.js'
import type { Context } from './context.js'
import { toContent } from './load-delivery.js'

/** What is looked at before a campaign is launched. With an error it is not; a warning is only said. */
export interface Check {
  readonly check: 'audience' | 'template' | 'unsubscribe' | 'sender' | 'window' | 'time'
  readonly level: 'ok' | 'warning' | 'error'
  readonly detail: string
}

export function checkSender(sender: Sender | null, later: boolean): Check {
  if (!sender) return say('sender', 'error', 'Its sender was removed. Choose another.')
  if (sender.pausedReason !== null)
    return say('sender', later ? 'warning' : 'error', `Its sender is paused: ${sender.pausedReason}`)
  if (sender.provider === 'capture')
    return say('sender', 'warning', 'Its sender keeps everything in the dev inbox: nothing leaves the building.')
  return say('sender', 'ok', `It goes out as ${sender.address}.`)
}

export function checkTemplate(
  { renderer }: Context,
  campaign: Campaign,
  of: { members: readonly AudienceMember[]; template: Template | null; sender: Sender | null; listName: string },
): Check[] {
  const { members, template, sender, listName } = of
  if (!template) return [say('template', 'error', 'Its template was removed. Choose another.')]
  if (!sender) return []
  const launched = { ...campaign, campaignId: campaign.id, campaignName: campaign.name, listName }
  const from = { fromName: sender.name, fromAddress: sender.address }
  const content = toContent({
    ...launched,
    ...from,
    ...template,
    templateId: template.id,
    templateVersion: template.version,
  })
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

const people = (count: number) => (count === 1 ? 'person' : `${count} people`)
export const say = (check: Check['check'], level: Check['level'], detail: string): Check => ({ check, level, detail })
