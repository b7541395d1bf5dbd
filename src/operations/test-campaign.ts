import { type AudienceMember, sampleAudience } from '../db/campaign-audience.js'
import type { Campaign } from '../db/campaigns.js'
import { findContactByAddress } from '../db/contacts.js'
import { findList } from '../db/lists.js'
import { findSender } from '../db/senders.js'
import { findSequence } from '../db/sequences.js'
import { findTemplate, findTemplateVersion } from '../db/templates.js'
import { foldAddress, parseMailbox } from '../domain/address.js'
import { PostriderError } from '../errors.js'
import { newId } from '../id.js'
import { getCampaign } from './campaigns.js'
import type { Context } from './context.js'
import { toContent } from './load-delivery.js'
import { sendEmails, type SentEmail } from './send-emails.js'

/**
 * Sends what a campaign would send to one address, as a single email. It is rendered for the contact of that address, or
 * for the first person of the list: with made-up data it would not show what is missing.
 */
export async function testCampaign(context: Context, workspaceId: string, id: string, to: string): Promise<SentEmail> {
  const campaign = await getCampaign(context, workspaceId, id)
  const { db } = context
  const mailbox = parseMailbox(to)
  if (!mailbox)
    throw new PostriderError('campaign_invalid', 'A test needs one address, such as ada@example.com.', {
      problems: [{ path: ['to'], detail: 'must be one address, such as ada@example.com' }],
    })
  const { templateVersion, senderId, listId } = campaign
  const templateId = campaign.templateId ?? (await firstTemplate(context, campaign))
  const [template, sender, list, known, [first]] = await Promise.all([
    templateVersion === null
      ? findTemplate(db, workspaceId, templateId)
      : findTemplateVersion(db, workspaceId, templateId, templateVersion),
    findSender(db, workspaceId, senderId),
    findList(db, workspaceId, listId),
    findContactByAddress(db, workspaceId, foldAddress(mailbox.address)),
    sampleAudience(db, workspaceId, listId, 1),
  ])
  if (!template || !sender || !list) throw notReady('Its template, sender or list was removed.')
  const contact = known ? { ...known, attributes: known.attributes as AudienceMember['attributes'] } : first
  if (!contact) throw notReady('The list has nobody to render it for.')
  const launched = { ...campaign, campaignId: id, campaignName: campaign.name, listName: list.name }
  const from = { fromName: sender.name, fromAddress: sender.address }
  const content = toContent({
    ...launched,
    ...from,
    ...template,
    templateId: template.id,
    templateVersion: template.version,
  })
  const rendered = context.renderer.render(
    content,
    // The link in it is a real one: it must not unsubscribe whoever it was rendered for.
    { ...contact, contactId: known?.id ?? newId(), address: mailbox.address },
    { id: newId(), date: new Date() },
  )
  if (!rendered.ok) throw notReady(rendered.problem)
  const { subject, html, text, replyTo } = rendered.message
  const { emails } = await sendEmails(context, workspaceId, [
    {
      to: mailbox.address,
      subject: `[Test] ${subject}`,
      ...(html !== null && { html }),
      ...(text !== null && { text }),
      ...(replyTo[0] && { replyTo: replyTo[0].address }),
      senderId,
    },
  ])
  return emails[0]!
}

/** Of a sequence, its first email is tested. */
async function firstTemplate({ db }: Context, { workspaceId, sequenceId }: Campaign): Promise<string> {
  const sequence = await findSequence(db, workspaceId, sequenceId ?? '')
  const first = sequence?.graph.nodes.find((node) => node.type === 'send')
  if (!first) throw notReady('Its sequence was removed.')
  return first.templateId
}

const notReady = (why: string) => new PostriderError('campaign_not_ready', `The campaign cannot be tested: ${why}`)
