import { z } from '@hono/zod-openapi'
import { type AttentionLink, ATTENTION_KINDS, type AttentionItem, SEVERITIES } from '../domain/attention.js'
import { CAMPAIGN_STATUSES } from '../domain/campaign.js'
import { type IdPrefix, showId } from '../id.js'
import type { Overview } from '../operations/read-overview.js'
import type { SenderHealth } from '../operations/sender-health.js'
import { progressSchema, toProgress } from './campaign-json.js'
import { orNull } from './or-null.js'

/** What the first screen shows. */
const instant = z.iso.datetime().openapi({ format: 'date-time' })
const count = z.int()
const seconds = z.number()

const linkSchema = z
  .strictObject({
    page: z.enum(['emails', 'senders', 'campaigns', 'imports', 'settings']),
    filter: z.record(z.string(), z.string()).optional().openapi({
      description: 'Parameters of the list of that page: GET /api/emails?status=failed&reason_code=recipient',
    }),
    ids: z.array(z.string()).optional().openapi({ description: 'Instead of a filter: exactly these.' }),
  })
  .openapi('AttentionLink')

const attentionSchema = z
  .strictObject({
    kind: z.enum(ATTENTION_KINDS),
    severity: z.enum(SEVERITIES).openapi({
      description:
        'critical: nothing moves until somebody does something; warning: something was lost or may be; info: somebody’s own doing.',
    }),
    text: z.string().openapi({ description: 'What is wrong and what to do, in words.' }),
    count,
    link: linkSchema.nullable().openapi({ description: 'Where exactly this can be seen.' }),
  })
  .openapi('Attention')

const senderSchema = z
  .strictObject({
    id: z.string(),
    name: z.string().nullable(),
    address: z.string(),
    is_default: z.boolean(),
    provider: z.enum(['smtp', 'capture']),
    state: z.enum(['active', 'slowed', 'paused']),
    paused_at: instant.nullable(),
    paused_code: z.string().nullable(),
    paused_reason: z.string().nullable(),
    held_until: instant.nullable().openapi({ description: 'Slowed down by its mail server until then.' }),
    today: z.strictObject({
      date: z.string().openapi({ description: 'A day of the sender’s own calendar.' }),
      quota: count.nullable().openapi({ description: 'Null: as many as there are, and nothing is counted.' }),
      booked: count,
      sent: count,
      remaining: count.nullable(),
    }),
  })
  .openapi('SenderHealth')

const campaignSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    status: z.enum(CAMPAIGN_STATUSES),
    is_sequence: z.boolean(),
    progress: orNull(
      progressSchema,
      'Null when reading it would have taken too long: ask GET /api/campaigns/{id}/schedule.',
    ),
  })
  .openapi('CampaignUnderWay')

const ROUGH = ['pending_email_count', 'failed_email_count', 'uncertain_email_count', 'due_now', 'next_hour'] as const

export const overviewSchema = z
  .strictObject({
    object: z.literal('dashboard'),
    at: instant.openapi({ description: 'The database’s clock.' }),
    pending_email_count: count,
    sending_email_count: count,
    failed_email_count: count,
    uncertain_email_count: count,
    due_now: count,
    next_hour: count.openapi({ description: 'Emails that wait now and fall due within an hour.' }),
    oldest_due_seconds: seconds.nullable().openapi({ description: 'Null when nothing is due.' }),
    rough: z.array(z.enum(ROUGH)).openapi({
      description:
        'Figures too large to be counted one by one: failed and uncertain are then at least this many, the others about.',
    }),
    schedule_lag: z.strictObject({ emails: count, p50_seconds: seconds, p95_seconds: seconds }).nullable().openapi({
      description:
        'How long after they were due the latest emails of the last hour went out, of 1,000 at the most. Null when none did.',
    }),
    senders: z.array(senderSchema),
    campaigns: z.array(campaignSchema).openapi({ description: 'Launched and not over, the newest ten.' }),
    has_more_campaigns: z.boolean(),
    attention: z
      .array(attentionSchema)
      .openapi({ description: 'What somebody should look at, most urgent first; empty when all is well.' }),
  })
  .openapi('Dashboard')

export function toOverview(overview: Overview): z.input<typeof overviewSchema> {
  const { counts, lag, campaigns } = overview
  const rough: Partial<Record<(typeof ROUGH)[number], boolean>> = {
    pending_email_count: counts.rough.includes('pending'),
    failed_email_count: overview.attentionCapped,
    uncertain_email_count: overview.attentionCapped,
    due_now: counts.rough.includes('dueNow'),
    next_hour: overview.nextHourEstimated,
  }
  return {
    object: 'dashboard',
    at: counts.now.toISOString(),
    pending_email_count: counts.pending,
    sending_email_count: counts.sending,
    failed_email_count: overview.failed,
    uncertain_email_count: overview.uncertain,
    due_now: counts.dueNow,
    next_hour: overview.nextHour,
    oldest_due_seconds: counts.oldestDueSeconds === null ? null : round(Math.max(0, counts.oldestDueSeconds)),
    rough: ROUGH.filter((name) => rough[name]),
    schedule_lag: lag && { emails: lag.emails, p50_seconds: round(lag.p50Seconds), p95_seconds: round(lag.p95Seconds) },
    senders: overview.senders.map(toSenderHealth),
    campaigns: campaigns.shown.map(({ campaign, progress }) => ({
      id: showId('cmp', campaign.id),
      name: campaign.name,
      status: campaign.status,
      is_sequence: campaign.sequenceId !== null,
      progress: progress && toProgress(progress),
    })),
    has_more_campaigns: campaigns.more,
    attention: overview.attention.map(toAttention),
  }
}

/** Milliseconds are as fine as anybody reads. */
const round = (value: number) => Math.round(value * 1_000) / 1_000

const toSenderHealth = ({ sender, state, heldUntil, today }: SenderHealth): z.input<typeof senderSchema> => ({
  id: showId('snd', sender.id),
  name: sender.name,
  address: sender.address,
  is_default: sender.isDefault,
  provider: sender.provider,
  state,
  paused_at: sender.pausedAt?.toISOString() ?? null,
  paused_code: sender.pausedCode,
  paused_reason: sender.pausedReason,
  held_until: heldUntil?.toISOString() ?? null,
  today: { ...today },
})

const PREFIXES: Partial<Record<AttentionLink['page'], IdPrefix>> = { senders: 'snd', campaigns: 'cmp', imports: 'imp' }

const toAttention = ({ link, ...item }: AttentionItem): z.input<typeof attentionSchema> => ({
  ...item,
  link: link && {
    page: link.page,
    ...(link.filter && { filter: { ...link.filter } }),
    ...(link.ids && { ids: link.ids.map((id) => showId(PREFIXES[link.page] ?? 'em', id)) }),
  },
})
