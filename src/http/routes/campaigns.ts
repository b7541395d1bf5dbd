import { z } from '@hono/zod-openapi'
import { type Campaign, listCampaigns } from '../../db/campaigns.js'
import { CAMPAIGN_STATUSES } from '../../domain/campaign.js'
import { showId } from '../../id.js'
import { changeCampaign, createCampaign, getCampaign, removeCampaign } from '../../operations/campaigns.js'
import type { Context } from '../../operations/context.js'
import { launchCampaign } from '../../operations/launch-campaign.js'
import { preflightCampaign } from '../../operations/preflight-campaign.js'
import { readCampaignProgress } from '../../operations/read-campaign.js'
import { scheduleCampaign } from '../../operations/schedule-campaign.js'
import { cancelCampaign, pauseCampaign, resumeCampaign, retryCampaign } from '../../operations/steer-campaign.js'
import { testCampaign } from '../../operations/test-campaign.js'
import {
  campaignChange,
  campaignSchema,
  launchedSchema,
  newCampaign,
  enrollWithin,
  progressSchema,
  readScheduledAt,
  showCampaign,
  showCampaigns,
  toCampaignInput,
  toProgress,
} from '../campaign-json.js'
import { emailRef, toEmailRef } from '../email-json.js'
import { type Call, type Endpoint, keyed } from '../endpoint.js'
import { asList, listOf, pageQuery, readPage, readReference } from '../pagination.js'
import { fields, text } from '../read-input.js'

const PATH = '/api/campaigns'
const common = { tag: 'Campaigns', scope: 'manage', answers: 'The campaign.', answer: campaignSchema } as const

const show = ({ options }: Call<unknown, unknown>, campaign: Campaign) => showCampaign(options.context.db, campaign)

const preflightSchema = z
  .strictObject({
    ok: z.boolean(),
    checks: z.array(
      z.strictObject({ check: z.string(), level: z.enum(['ok', 'warning', 'error']), detail: z.string() }),
    ),
  })
  .openapi('Preflight')

const steering = (
  verb: string,
  steer: (context: Context, workspaceId: string, id: string) => Promise<Campaign>,
  { summary, description }: { summary: string; description: string },
): Endpoint =>
  keyed({
    ...common,
    method: 'post',
    path: `${PATH}/{id}/${verb}`,
    summary,
    description,
    problems: ['campaign_not_found', 'campaign_conflict'],
    run: async (call) => show(call, await steer(call.options.context, call.caller.workspaceId, call.id('cmp'))),
  })

const launchBody = fields({
  scheduled_at: text(100).nullable().optional().openapi({ format: 'date-time' }),
  within_ms: enrollWithin,
})

/** Both launch a draft; one is asked for a time. */
const launching = (launch: typeof launchCampaign) => async (call: Call<unknown, z.output<typeof launchBody>>) => {
  const scheduledAt = readScheduledAt(call.body.scheduled_at)
  const { campaign, errors, ...rest } = await launch(call.options.context, call.caller.workspaceId, call.id('cmp'), {
    withinMs: call.body.within_ms,
    ...(scheduledAt !== undefined && { scheduledAt }),
  })
  return { ...(await show(call, campaign)), ...rest, errors: [...errors] }
}

const launch = {
  ...common,
  method: 'post',
  body: launchBody,
  bodyOptional: true,
  answers: 'The campaign, and how many people it goes to, or how many emails of a sequence were planned.',
  answer: launchedSchema,
  problems: ['campaign_not_found', 'campaign_conflict', 'campaign_not_ready'],
} as const

export const campaignEndpoints: readonly Endpoint[] = [
  keyed({
    ...common,
    method: 'get',
    path: PATH,
    scope: 'read',
    summary: 'List campaigns',
    description: 'Newest first.',
    query: pageQuery({
      status: z.enum(CAMPAIGN_STATUSES).optional(),
      list_id: text(1_000).optional(),
      sequence_id: text(1_000).optional(),
    }),
    answers: 'A page of campaigns.',
    answer: listOf(campaignSchema),
    async run({ options, caller, query }) {
      const page = readPage(query, 'cmp')
      const filter = {
        ...(query.status !== undefined && { status: query.status }),
        ...(query.list_id !== undefined && { listId: readReference(query.list_id, 'list_id', 'lst') }),
        ...(query.sequence_id !== undefined && {
          sequenceId: readReference(query.sequence_id, 'sequence_id', 'seq'),
        }),
      }
      const found = await listCampaigns(options.context.db, caller.workspaceId, filter, {
        ...page,
        limit: page.limit + 1,
      })
      return asList(await showCampaigns(options.context.db, found), page)
    },
  }),
  keyed({
    ...common,
    method: 'post',
    path: PATH,
    summary: 'Make a draft',
    body: newCampaign,
    example: { name: 'November news', list_id: 'lst_…', template_id: 'tpl_…' },
    status: 201,
    problems: ['campaign_invalid'],
    run: async (call) =>
      show(call, await createCampaign(call.options.context, call.caller.workspaceId, toCampaignInput(call.body))),
  }),
  keyed({
    ...common,
    method: 'get',
    path: `${PATH}/{id}`,
    scope: 'read',
    summary: 'One campaign',
    problems: ['campaign_not_found'],
    run: async (call) => show(call, await getCampaign(call.options.context, call.caller.workspaceId, call.id('cmp'))),
  }),
  keyed({
    ...common,
    method: 'patch',
    path: `${PATH}/{id}`,
    summary: 'Change a draft',
    body: campaignChange,
    example: { hourly_limit: 1_000 },
    problems: ['campaign_not_found', 'campaign_invalid', 'campaign_conflict'],
    async run(call) {
      const { context } = call.options
      const id = call.id('cmp')
      return show(call, await changeCampaign(context, call.caller.workspaceId, id, toCampaignInput(call.body)))
    },
  }),
  keyed({
    ...common,
    method: 'delete',
    path: `${PATH}/{id}`,
    summary: 'Remove a draft',
    answers: 'It is gone.',
    answer: z.strictObject({ object: z.literal('campaign'), id: z.string(), deleted: z.literal(true) }),
    problems: ['campaign_not_found', 'campaign_conflict'],
    async run(call) {
      const id = call.id('cmp')
      await removeCampaign(call.options.context, call.caller.workspaceId, id)
      return { object: 'campaign' as const, id: showId('cmp', id), deleted: true as const }
    },
  }),
  keyed({
    ...common,
    method: 'get',
    path: `${PATH}/{id}/preflight`,
    scope: 'read',
    summary: 'What would keep it from being launched',
    answers: 'Every check and what it found.',
    answer: preflightSchema,
    problems: ['campaign_not_found'],
    async run(call) {
      const { context } = call.options
      const campaign = await getCampaign(context, call.caller.workspaceId, call.id('cmp'))
      const { ok, checks } = await preflightCampaign(context, campaign)
      return { ok, checks: [...checks] }
    },
  }),
  keyed({
    ...launch,
    path: `${PATH}/{id}/launch`,
    summary: 'Launch a draft',
    description: 'Looks at everything once more, then starts it now, or at its time if it has one.',
    run: launching(launchCampaign),
  }),
  keyed({
    ...launch,
    path: `${PATH}/{id}/schedule`,
    summary: 'Launch a draft at a time',
    description:
      'A campaign of a sequence that was launched looks at its list once more instead, if no time is given: whoever joined since is enrolled, and nobody twice.',
    example: { scheduled_at: '2030-01-01T09:00:00Z' },
    run: launching(scheduleCampaign),
  }),
  keyed({
    ...common,
    method: 'get',
    path: `${PATH}/{id}/schedule`,
    scope: 'read',
    summary: 'How far it is',
    answers: 'Counts that add up, the rate, the estimated end, and why it stands still if it does.',
    answer: progressSchema,
    problems: ['campaign_not_found'],
    run: async (call) =>
      toProgress(await readCampaignProgress(call.options.context, call.caller.workspaceId, call.id('cmp'))),
  }),
  steering('pause', pauseCampaign, {
    summary: 'Pause a campaign',
    description: 'At once, also for what is queued already; what is on the wire is finished.',
  }),
  steering('resume', resumeCampaign, { summary: 'Resume a campaign', description: 'It goes on where it was.' }),
  steering('cancel', cancelCampaign, {
    summary: 'Cancel a campaign',
    description: 'For good: what has not gone out never will.',
  }),
  keyed({
    ...common,
    method: 'post',
    path: `${PATH}/{id}/retry`,
    summary: 'Retry what failed',
    description: 'All its failed emails start over, and its planning if that was what failed.',
    answers: 'The campaign, and how many emails were started over.',
    answer: z.strictObject({ ...campaignSchema.shape, retried: z.int() }),
    problems: ['campaign_not_found', 'campaign_conflict'],
    async run(call) {
      const { context } = call.options
      const { workspaceId, name: by } = call.caller
      const { campaign, retried } = await retryCampaign(context, workspaceId, call.id('cmp'), by)
      return { ...(await show(call, campaign)), retried }
    },
  }),
  keyed({
    ...common,
    method: 'post',
    path: `${PATH}/{id}/test`,
    summary: 'Send it to one address',
    description: 'Rendered for the contact of that address, or for the first person of the list; a single email.',
    body: fields({ to: text(4_000) }),
    example: { to: 'ada@example.com' },
    status: 202,
    answers: 'The email.',
    answer: emailRef,
    problems: ['campaign_not_found', 'campaign_invalid', 'campaign_not_ready'],
    run: async (call) =>
      toEmailRef(await testCampaign(call.options.context, call.caller.workspaceId, call.id('cmp'), call.body.to)),
  }),
]
