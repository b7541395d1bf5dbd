import { type CalendarPage, listCalendar } from '../db/campaign-calendar.js'
import { findLaunchedContent } from '../db/campaign-deliveries.js'
import type { EmailFilter } from '../db/email-filter.js'
import { type Email, type EmailStep, type EmailSummary, findEmail } from '../db/emails.js'
import { emailsBefore, findEnrollmentEmails } from '../db/enrollment-emails.js'
import { findEnrollment } from '../db/enrollments.js'
import { type EmailPage, listEmails, searchEmails } from '../db/list-emails.js'
import { findStepContent } from '../db/step-content.js'
import type { Cursor } from '../db/search-on.js'
import type { Message } from '../domain/message.js'
import { PostriderError } from '../errors.js'
import type { Context } from './context.js'
import { dateOf, toContent } from './load-delivery.js'
import { toStepContent } from './load-step.js'
import { threadEmail } from './thread-email.js'

/**
 * Emails as people see them. One of a campaign is rendered for its contact as it is now; what cannot be rendered any
 * more is shown as its template.
 */
export async function readEmail(context: Context, workspaceId: string, id: string): Promise<Email | null> {
  const email = await findEmail(context.db, workspaceId, id)
  const rendered = email && (await createRendering(context, workspaceId)(email))
  if (!email || !rendered) return email
  const { subject, html, text, headers, replyTo } = await inThread(context, workspaceId, email, rendered)
  return { ...email, subject, html, text, headers, replyTo }
}

export async function readEmails(
  context: Context,
  workspaceId: string,
  filter: EmailFilter,
  cursor: Cursor,
): Promise<EmailSummary[]> {
  return withSubjects(context, workspaceId, await listEmails(context.db, workspaceId, filter, cursor))
}

/** The same, or as much of a page as is found in a moment, and how far was looked. */
export async function readEmailPage(
  context: Context,
  workspaceId: string,
  filter: EmailFilter,
  cursor: Cursor,
): Promise<EmailPage> {
  const { emails, searchedUntil } = await searchEmails(context.db, workspaceId, filter, cursor)
  return { emails: await withSubjects(context, workspaceId, emails), searchedUntil }
}

/** What a campaign sends when: its emails that wait, soonest first. */
export async function readCalendar(
  context: Context,
  workspaceId: string,
  campaignId: string,
  page: CalendarPage,
): Promise<EmailSummary[]> {
  return withSubjects(context, workspaceId, await listCalendar(context.db, workspaceId, campaignId, page))
}

async function withSubjects(
  context: Context,
  workspaceId: string,
  emails: readonly EmailSummary[],
): Promise<EmailSummary[]> {
  const render = createRendering(context, workspaceId)
  return Promise.all(
    emails.map(async (email) => {
      const message = LIQUID.test(email.subject) ? await render(email) : null
      return message ? { ...email, subject: message.subject } : email
    }),
  )
}

/** An email of a sequence as part of its thread, as far as that has gone out. */
async function inThread({ db }: Context, workspaceId: string, email: Email, message: Message): Promise<Message> {
  const step = email.campaign?.step
  if (!step) return message
  const content = await findStepContent(db, workspaceId, { campaignId: email.campaign.id, ...step })
  const enrollment = await findEnrollment(db, workspaceId, step.enrollmentId)
  if (!content || !enrollment) return message
  const earlier = emailsBefore(await findEnrollmentEmails(db, enrollment.id), email.id)
  return threadEmail(message, content, enrollment, earlier)
}

const LIQUID = /\{[{%]/

/** Null for an email that has a message of its own, and for one that cannot be rendered. */
function createRendering({ db, renderer }: Context, workspaceId: string) {
  const contents = new Map<string, ReturnType<typeof loadContent>>()
  const loadContent = async (campaignId: string, step: EmailStep | null) => {
    if (step) {
      const content = await findStepContent(db, workspaceId, { campaignId, ...step })
      return content && toStepContent(content)
    }
    const content = await findLaunchedContent(db, workspaceId, campaignId)
    return content && toContent(content)
  }
  return async ({ id, campaign, deliveries }: EmailSummary): Promise<Message | null> => {
    if (!campaign) return null
    const key = `${campaign.id} ${campaign.step?.nodeId} ${campaign.step?.senderId}`
    const known = contents.get(key) ?? loadContent(campaign.id, campaign.step)
    contents.set(key, known)
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
