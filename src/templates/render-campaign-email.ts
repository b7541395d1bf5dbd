import type { Json } from '../domain/action.js'
import type { Mailbox, Message } from '../domain/message.js'
import type { LinkSigner } from '../link-signer.js'
import { toEncodedWords } from '../mime/encoded-words.js'
import type { Data } from './liquid-engine.js'
import { createTemplateCache } from './template-cache.js'
import { withUnsubscribeLink } from './unsubscribe-footer.js'

/** What is the same for everybody a campaign goes to. */
export interface CampaignContent {
  readonly workspaceId: string
  readonly campaignId: string
  readonly campaignName: string
  readonly list: { readonly id: string; readonly name: string }
  readonly from: Mailbox
  readonly replyTo: readonly Mailbox[]
  readonly templateId: string
  readonly templateVersion: number
  readonly subject: string
  readonly html: string | null
  readonly text: string | null
}

export interface CampaignRecipient {
  readonly contactId: string
  readonly address: string
  readonly name: string | null
  readonly attributes: { readonly [key: string]: Json }
  readonly timezone: string | null
}

export type RenderedCampaignEmail =
  | { readonly ok: true; readonly message: Message }
  | { readonly ok: false; readonly problem: string }

/** Nothing in it depends on a clock or on dice: the same email is the same message, however often it is rendered. */
export interface CampaignRenderer {
  render(
    content: CampaignContent,
    recipient: CampaignRecipient,
    email: { readonly id: string; readonly date: Date },
  ): RenderedCampaignEmail
}

export function createCampaignRenderer(options: {
  /** Without a slash at its end. */
  readonly publicUrl: string
  readonly sign: LinkSigner
}): CampaignRenderer {
  const cache = createTemplateCache()
  const base = options.publicUrl.replace(/\/+$/, '')
  return {
    render(content, recipient, email) {
      const { templateId, templateVersion, list, campaignId, from } = content
      const compiled = cache.compile(templateId, templateVersion, content)
      if (!compiled.ok)
        return { ok: false, problem: `The template is not valid: ${compiled.problems[0]?.detail ?? 'unknown'}.` }
      const { contactId, address } = recipient
      const url = `${base}/u/${options.sign.sign({ listId: list.id, contactId, campaignId, address })}`
      const rendered = compiled.template.render(campaignData(content, recipient, url))
      if (!rendered.ok) return { ok: false, problem: rendered.problem }
      const domain = from.address.slice(from.address.lastIndexOf('@') + 1)
      return {
        ok: true,
        message: {
          id: email.id,
          workspaceId: content.workspaceId,
          messageId: `<${email.id}@${domain}>`,
          date: email.date,
          from,
          to: [{ address, name: recipient.name }],
          cc: [],
          bcc: [],
          replyTo: content.replyTo,
          subject: rendered.subject,
          ...withUnsubscribeLink(rendered, url, list.name),
          headers: {
            // RFC 8058: one click in the mail program, without a page. Both are under the DKIM signature.
            'List-Unsubscribe': `<${url}>`,
            'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
            // Also what keeps vacation responders quiet; Precedence: bulk adds nothing to it any more.
            'List-Id': `${toPhrase(list.name)} <${bare(list.id)}.${domain}>`.trim(),
            'Feedback-ID': `${bare(campaignId)}:${bare(list.id)}:${bare(content.workspaceId)}:postrider`,
          },
          attachments: [],
          calendar: null,
        },
      }
    },
  }
}

/** What templates of campaigns may speak of. */
export function campaignData(
  content: Pick<CampaignContent, 'campaignName' | 'list' | 'from'>,
  recipient: Omit<CampaignRecipient, 'contactId'>,
  unsubscribeUrl: string,
): Data {
  return {
    contact: contactData(recipient),
    list: { name: content.list.name },
    campaign: { name: content.campaignName },
    sender: { name: content.from.name, email: content.from.address },
    unsubscribe_url: unsubscribeUrl,
  }
}

/** An attribute never hides what a contact is known by. */
export const contactData = ({ address, name, timezone, attributes }: Omit<CampaignRecipient, 'contactId'>): Data => ({
  ...attributes,
  ...(name !== null && { name }),
  ...(timezone !== null && { timezone }),
  email: address,
})

const bare = (id: string) => id.replaceAll('-', '')

/** A name as RFC 5322 allows it before an address: quoted if it has to be, encoded if it is not ASCII. */
function toPhrase(name: string): string {
  const text = name
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim()
  if (/^[\w -]*$/.test(text)) return text
  if (!/^[\x20-\x7e]*$/.test(text) || text.includes('=?')) return toEncodedWords(text, 60).join(' ')
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}
