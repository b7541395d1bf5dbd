import { findLaunchedContent } from '../db/campaign-deliveries.js'
import { type Email, type EmailSummary, findEmail } from '../db/emails.js'
import { type Cursor, type EmailFilter, listEmails } from '../db/list-emails.js'
import type { Message } from '../domain/message.js'
import { PostriderError } from '../errors.js'
import type { Context } from './context.js'
import { dateOf, toContent } from './load-delivery.js'

/**
 * Emails as people see them. One of a campaign is rendered for its contact as it is now; what cannot be rendered any
 * more is shown as its template.
 */
export async function readEmail(context: Context, workspaceId: string, id: string): Promise<Email | null> {
  const email = await findEmail(context.db, workspaceId, id)
  const message = email && (await createRendering(context, workspaceId)(email))
  if (!email || !message) return email
  const { subject, html, text, headers, replyTo } = message
  return { ...email, subject, html, text, headers, replyTo }
}

export async function readEmails(
  context: Context,
  workspaceId: string,
  filter: EmailFilter,
  cursor: Cursor,
): Promise<EmailSummary[]> {
  const emails = await listEmails(context.db, workspaceId, filter, cursor)
  const render = createRendering(context, workspaceId)
  return Promise.all(
    emails.map(async (email) => {
      const message = LIQUID.test(email.subject) ? await render(email) : null
      return message ? { ...email, subject: message.subject } : email
    }),
  )
}

const LIQUID = /\{[{%]/

/** Null for an email that has a message of its own, and for one that cannot be rendered. */
function createRendering({ db, renderer }: Context, workspaceId: string) {
  const contents = new Map<string, ReturnType<typeof loadContent>>()
  const loadContent = async (campaignId: string) => {
    const content = await findLaunchedContent(db, workspaceId, campaignId)
    return content && toContent(content)
  }
  return async ({ id, campaign, deliveries }: EmailSummary): Promise<Message | null> => {
    if (!campaign) return null
    const known = contents.get(campaign.id) ?? loadContent(campaign.id)
    contents.set(campaign.id, known)
    const content = await known
    if (!content) return null
    const { contact } = campaign
    const recipient = { ...contact, contactId: contact.id, address: deliveries[0]?.recipient ?? '' }
    try {
      const rendered = renderer.render(content, recipient, { id, date: dateOf(id) })
      return rendered.ok ? rendered.message : null
    } catch (error) {
      // Without the secret its unsubscribe link cannot be signed: a command that only looks may be without it.
      if (error instanceof PostriderError) return null
      throw error
    }
  }
}
