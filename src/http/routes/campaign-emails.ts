import { z } from '@hono/zod-openapi'
import type { Campaign } from '../../db/campaigns.js'
import type { EmailSummary } from '../../db/emails.js'
import { localDayOf, OPEN_PACE } from '../../domain/pace.js'
import { showId } from '../../id.js'
import { getCampaign } from '../../operations/campaigns.js'
import type { Context } from '../../operations/context.js'
import { readInstant } from '../../operations/prepare-email.js'
import { readCalendar, readEmails } from '../../operations/read-emails.js'
import { emailStatus, emailSummarySchema, toEmailSummary } from '../email-json.js'
import { type Endpoint, keyed } from '../endpoint.js'
import { asList, listOf, pageQuery, readPage } from '../pagination.js'
import { type InputProblem, refusal } from '../problem.js'
import { text } from '../read-input.js'

const ORDERS = ['newest', 'time'] as const
/** Not out yet: what is shown unless a status is asked for. */
const UPCOMING = ['scheduled', 'retry_scheduled', 'sending'] as const

const scheduledEmailSchema = z
  .strictObject({
    ...emailSummarySchema.shape,
    address: z.string(),
    sender_id: z.string(),
    next_attempt_at: z.iso.datetime().nullable().openapi({ format: 'date-time' }),
    day: z.iso.date().nullable().openapi({ description: 'Of its time, by the calendar of its sender’s timezone.' }),
  })
  .openapi('ScheduledEmail', { description: 'As long as it waits, scheduled_at is the time it is due.' })

const instant = (description: string) => text(100).optional().openapi({ format: 'date-time', description })

export const campaignEmailEndpoints: readonly Endpoint[] = [
  keyed({
    method: 'get',
    path: '/api/campaigns/{id}/scheduled-emails',
    tag: 'Campaigns',
    scope: 'read',
    summary: 'Its emails',
    description:
      'Those that have not gone out, newest first; or with order=time, and from and to, as a calendar: those that wait, soonest first.',
    query: pageQuery({
      status: emailStatus.optional(),
      order: z.enum(ORDERS).optional().openapi({ description: 'newest, unless from or to is given.' }),
      from: instant('Due then or later.'),
      to: instant('Due before then.'),
    }),
    answers: 'A page of emails, each with the time it is due.',
    answer: listOf(scheduledEmailSchema),
    problems: ['campaign_not_found'],
    async run(call) {
      const { context } = call.options
      const { workspaceId } = call.caller
      const page = readPage(call.query, 'em')
      const period = readPeriod(call.query)
      const campaign = await getCampaign(context, workspaceId, call.id('cmp'))
      const wanted = { ...page, limit: page.limit + 1 }
      const emails = period
        ? await readCalendar(context, workspaceId, campaign.id, { ...wanted, ...period })
        : await readEmails(
            context,
            workspaceId,
            { campaignId: campaign.id, status: call.query.status ?? UPCOMING },
            wanted,
          )
      return asList(await showScheduled(context, campaign, emails), page)
    },
  }),
]

/** Null: not by time. */
function readPeriod(query: {
  readonly status?: string | undefined
  readonly order?: (typeof ORDERS)[number] | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}): { readonly from?: Date; readonly to?: Date } | null {
  const problems: InputProblem[] = []
  const refuse = (name: string, detail: string) => void problems.push({ in: 'query', path: [name], detail })
  const read = (name: 'from' | 'to') => {
    const value = query[name]
    return value === undefined ? null : (readInstant(value, name, (_, detail) => refuse(name, detail)) ?? null)
  }
  const [from, to] = [read('from'), read('to')]
  const bounded = query.from !== undefined || query.to !== undefined
  const byTime = bounded || query.order === 'time'
  if (bounded && query.order === 'newest') refuse('order', 'must be time where from or to is given')
  if (byTime && query.status !== undefined)
    refuse('status', 'cannot be combined with order=time: only what waits has a time')
  if (problems.length > 0) throw refusal(problems)
  return byTime ? { ...(from && { from }), ...(to && { to }) } : null
}

export async function showScheduled(
  context: Context,
  campaign: Campaign,
  emails: readonly EmailSummary[],
): Promise<z.input<typeof scheduledEmailSchema>[]> {
  const paces = new Map((await context.sendersOf(campaign.workspaceId)).map(({ id, pace }) => [id, pace ?? OPEN_PACE]))
  return emails.map((email) => {
    const [delivery] = email.deliveries
    const senderId = email.campaign?.step?.senderId ?? campaign.senderId
    const dueAt = delivery?.state === 'pending' ? delivery.runAt : null
    return {
      ...toEmailSummary(email),
      ...(dueAt && { scheduled_at: dueAt.toISOString() }),
      address: delivery?.recipient ?? '',
      sender_id: showId('snd', senderId),
      next_attempt_at: dueAt?.toISOString() ?? null,
      day: dueAt && localDayOf(paces.get(senderId) ?? OPEN_PACE, dueAt),
    }
  })
}
