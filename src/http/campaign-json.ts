import { z } from '@hono/zod-openapi'
import { findSendersOfCampaigns } from '../db/campaign-steps.js'
import type { Campaign } from '../db/campaigns.js'
import type { Sql } from '../db/client.js'
import { BATCH_SIZES, CAMPAIGN_STATUSES, type CampaignCounts } from '../domain/campaign.js'
import { showId } from '../id.js'
import type { CampaignInput } from '../operations/campaigns.js'
import { readInstant } from '../operations/prepare-email.js'
import type { CampaignPeople, CampaignProgress } from '../operations/read-campaign.js'
import { orNull } from './or-null.js'
import { readReferenceIn, readReferencesIn } from './read-reference.js'
import { type InputProblem, refusal } from './problem.js'
import { fields, text, withinMs } from './read-input.js'

/** Campaigns as clients see them. */
const instant = z.iso.datetime().openapi({ format: 'date-time' })
const count = z.int()
/** Each is locked while people are enrolled. */
const MOST_SENDERS = 100

const shape = {
  object: z.literal('campaign'),
  id: z.string().openapi({ example: 'cmp_019a8b…' }),
  name: z.string(),
  status: z.enum(CAMPAIGN_STATUSES),
  list_id: z.string(),
  template_id: z.string().nullable().openapi({ description: 'Null for a campaign of a sequence.' }),
  template_version: z.int().nullable().openapi({ description: 'Frozen at launch.' }),
  sequence_id: z.string().nullable().openapi({ description: 'Null for a campaign of a template.' }),
  sequence_version: z.int().nullable().openapi({ description: 'Frozen at launch.' }),
  sender_id: z.string().openapi({ description: 'The first of its senders.' }),
  sender_ids: z
    .array(z.string())
    .openapi({ description: 'Of a sequence there can be several: each contact gets one.' }),
  reply_to: z.string().nullable(),
  batch_size: z.int(),
  hourly_limit: z.int().nullable(),
  follow_pace: z.boolean(),
  scheduled_at: instant.nullable(),
  expires_at: instant.nullable(),
  started_at: instant.nullable(),
  finished_at: instant.nullable(),
  created_at: instant,
  updated_at: instant,
}

export const campaignSchema = z.strictObject(shape).openapi('Campaign')

const countsSchema = z
  .strictObject({
    audience: count,
    not_planned: count,
    scheduled: count,
    retry_scheduled: count,
    sending: count,
    sent: count,
    failed: count,
    uncertain: count,
    unsubscribed: count,
    suppressed: count,
    removed: count,
    canceled: count,
    expired: count,
    dismissed: count,
  })
  .openapi('CampaignCounts', {
    description:
      'At one instant; all but the audience add up to the audience. Of a template they count people, of a sequence emails.',
  })

const peopleSchema = z
  .strictObject({
    not_enrolled: count.openapi({ description: 'On its lists, and not looked at yet.' }),
    active: count,
    paused: count,
    completed: count,
    stopped: count,
    unsubscribed: count,
    suppressed: count,
    enrolled_before: count.openapi({ description: 'Passed over, each time, because they walk the sequence or have.' }),
  })
  .openapi('CampaignPeople')

export const progressSchema = z
  .strictObject({
    object: z.literal('campaign_progress'),
    id: z.string(),
    status: z.enum(CAMPAIGN_STATUSES),
    counts: countsSchema,
    people: orNull(peopleSchema, 'Of a sequence, its people; null for a template.'),
    rate_per_minute: z.number().nullable(),
    estimated_end: instant.nullable(),
    last_error: z.strictObject({ at: instant, code: z.string().nullable(), text: z.string() }).nullable(),
    standstill: z
      .strictObject({ code: z.string(), text: z.string(), until: instant.nullable() })
      .nullable()
      .openapi({ description: 'Why it is not moving; null while it moves and once it is sent.' }),
    at: instant,
  })
  .openapi('CampaignProgress')

export const launchedSchema = z
  .strictObject({
    ...shape,
    scheduled: count.openapi({
      description: 'How many people it goes to; of a sequence, how many emails were planned within this request.',
    }),
    skipped: count.openapi({
      description:
        'Of those on the list, how many opted out, are suppressed, or were enrolled before. Of a very long list they are counted while it runs.',
    }),
    errors: z.array(z.string()),
    remaining: count
      .optional()
      .openapi({ description: 'Of a sequence: people on its list who are enrolled after this request.' }),
  })
  .openapi('LaunchedCampaign')

const inputShape = {
  template_id: text(1_000).nullable().optional().openapi({ description: 'What a bulk campaign sends.' }),
  sequence_id: text(1_000).nullable().optional().openapi({ description: 'Instead of a template.' }),
  sender_id: text(1_000).optional().openapi({ description: 'Absent: the default sender.' }),
  sender_ids: z
    .array(text(1_000))
    .max(MOST_SENDERS, `at most ${MOST_SENDERS} senders`)
    .optional()
    .openapi({ description: 'Instead of sender_id, for a sequence: each contact gets one of them.' }),
  reply_to: text(1_000).nullable().optional(),
  batch_size: z.int('must be a whole number').optional().openapi({ default: BATCH_SIZES.default }),
  hourly_limit: z.int('must be a whole number').nullable().optional().openapi({ description: 'In any hour, at most.' }),
  follow_pace: z.boolean().optional().openapi({ description: 'Keep to the sender’s window and daily quota.' }),
  scheduled_at: text(100).nullable().optional().openapi({ format: 'date-time' }),
  expires_at: text(100)
    .nullable()
    .optional()
    .openapi({ format: 'date-time', description: 'What has not gone out by then never does.' }),
}
const named = { name: text(1_000), list_id: text(1_000) }

export const newCampaign = fields({ ...named, ...inputShape }).openapi('NewCampaign')
export const campaignChange = fields({
  name: named.name.optional(),
  list_id: named.list_id.optional(),
  ...inputShape,
}).openapi('CampaignChange')

export function toCampaignInput(json: z.output<typeof campaignChange>): CampaignInput {
  const problems: InputProblem[] = []
  const input: CampaignInput = {
    ...(json.name !== undefined && { name: json.name }),
    ...(json.list_id !== undefined && { listId: readReferenceIn('list_id', json.list_id, 'lst', problems) }),
    ...(json.template_id && { templateId: readReferenceIn('template_id', json.template_id, 'tpl', problems) }),
    ...(json.sequence_id && { sequenceId: readReferenceIn('sequence_id', json.sequence_id, 'seq', problems) }),
    ...(json.sender_id !== undefined && { senderId: readReferenceIn('sender_id', json.sender_id, 'snd', problems) }),
    ...(json.sender_ids && { senderIds: readReferencesIn('sender_ids', json.sender_ids, 'snd', problems) }),
    ...(json.reply_to !== undefined && { replyTo: json.reply_to }),
    ...(json.batch_size !== undefined && { batchSize: json.batch_size }),
    ...(json.hourly_limit !== undefined && { hourlyLimit: json.hourly_limit }),
    ...(json.follow_pace !== undefined && { followPace: json.follow_pace }),
    ...(json.scheduled_at !== undefined && { scheduledAt: instantIn('scheduled_at', json.scheduled_at, problems) }),
    ...(json.expires_at !== undefined && { expiresAt: instantIn('expires_at', json.expires_at, problems) }),
  }
  if (json.sender_id !== undefined && json.sender_ids !== undefined)
    problems.push({ in: 'body', path: ['sender_ids'], detail: 'cannot be given together with sender_id' })
  if (problems.length > 0) throw refusal(problems)
  return input
}

export const enrollWithin = withinMs(
  'Of a sequence: for how many milliseconds people are enrolled before the answer, three seconds unless given; the others follow by themselves.',
)

export const readScheduledAt = (value: string | null | undefined): Date | null | undefined => {
  const problems: InputProblem[] = []
  const at = value === undefined ? undefined : instantIn('scheduled_at', value, problems)
  if (problems.length > 0) throw refusal(problems)
  return at
}

const instantIn = (name: string, value: string | null, problems: InputProblem[]): Date | null =>
  value === null
    ? null
    : (readInstant(value, name, (path, detail) => void problems.push({ in: 'body', path, detail })) ?? null)

/** As clients see them, each with its senders. */
export async function showCampaigns(sql: Sql, campaigns: readonly Campaign[]): Promise<CampaignJson[]> {
  const senders = await findSendersOfCampaigns(
    sql,
    campaigns.map(({ id }) => id),
  )
  return campaigns.map((campaign) => toCampaign(campaign, senders.get(campaign.id) ?? []))
}

export const showCampaign = async (sql: Sql, campaign: Campaign): Promise<CampaignJson> =>
  (await showCampaigns(sql, [campaign]))[0]!

type CampaignJson = z.input<typeof campaignSchema>

const toCampaign = (campaign: Campaign, senderIds: readonly string[]): CampaignJson => ({
  object: 'campaign',
  id: showId('cmp', campaign.id),
  name: campaign.name,
  status: campaign.status,
  list_id: showId('lst', campaign.listId),
  template_id: campaign.templateId && showId('tpl', campaign.templateId),
  template_version: campaign.templateVersion,
  sequence_id: campaign.sequenceId && showId('seq', campaign.sequenceId),
  sequence_version: campaign.sequenceVersion,
  sender_id: showId('snd', campaign.senderId),
  sender_ids: [...new Set([campaign.senderId, ...senderIds])].map((id) => showId('snd', id)),
  reply_to: campaign.replyTo,
  batch_size: campaign.batchSize,
  hourly_limit: campaign.hourlyLimit,
  follow_pace: campaign.followPace,
  scheduled_at: campaign.scheduledAt?.toISOString() ?? null,
  expires_at: campaign.expiresAt?.toISOString() ?? null,
  started_at: campaign.startedAt?.toISOString() ?? null,
  finished_at: campaign.finishedAt?.toISOString() ?? null,
  created_at: campaign.createdAt.toISOString(),
  updated_at: campaign.updatedAt.toISOString(),
})

export const toProgress = (progress: CampaignProgress): z.input<typeof progressSchema> => ({
  object: 'campaign_progress',
  id: showId('cmp', progress.campaign.id),
  status: progress.campaign.status,
  counts: toCounts(progress.counts),
  people: progress.people && toPeople(progress.people),
  rate_per_minute: progress.ratePerMinute === null ? null : Math.round(progress.ratePerMinute * 10) / 10,
  estimated_end: progress.estimatedEnd?.toISOString() ?? null,
  last_error: progress.lastError && { ...progress.lastError, at: progress.lastError.at.toISOString() },
  standstill: progress.standstill && {
    ...progress.standstill,
    until: progress.standstill.until?.toISOString() ?? null,
  },
  at: progress.now.toISOString(),
})

const toCounts = ({ notPlanned, retryScheduled, ...counts }: CampaignCounts): z.input<typeof countsSchema> => ({
  ...counts,
  not_planned: notPlanned,
  retry_scheduled: retryScheduled,
})

const toPeople = ({ notEnrolled, enrolledBefore, ...people }: CampaignPeople): z.input<typeof peopleSchema> => ({
  ...people,
  not_enrolled: notEnrolled,
  enrolled_before: enrolledBefore,
})
