import { z } from '@hono/zod-openapi'
import { showId } from '../../id.js'
import { readFunnel } from '../../operations/read-funnel.js'
import { type Endpoint, keyed } from '../endpoint.js'

const count = z.int()

const funnelSchema = z
  .strictObject({
    object: z.literal('campaign_funnel'),
    campaign_id: z.string(),
    sequence_id: z.string(),
    version: count.openapi({ description: 'Of the sequence.' }),
    nodes: z.array(
      z.strictObject({
        node: z.string(),
        type: z.string(),
        here: count.openapi({ description: 'Have come to it, and wait there.' }),
        coming: count.openapi({
          description:
            'It comes next for them. With too many people to count their emails, the emails in between are passed over.',
        }),
        paused: count,
        stopped: count.openapi({ description: 'Were stopped here, or on their way to it.' }),
        sent: count.nullable().openapi({ description: 'Its emails that went out; null: too many people to count.' }),
      }),
    ),
    ending: count.openapi({ description: 'Have nothing before them but the end.' }),
    completed: count.openapi({ description: 'Came to the end.' }),
    stopped: count,
  })
  .openapi('CampaignFunnel')

export const campaignFunnelEndpoints: readonly Endpoint[] = [
  keyed({
    method: 'get',
    path: '/api/campaigns/{id}/funnel',
    tag: 'Campaigns',
    scope: 'read',
    summary: 'Where its people are',
    description: 'Of a campaign of a sequence: how many are at each node of the version it was launched with.',
    answers: 'The nodes, in the order of the sequence.',
    answer: funnelSchema,
    problems: ['campaign_not_found', 'campaign_not_ready'],
    async run(call) {
      const id = call.id('cmp')
      const { sequenceId, ...funnel } = await readFunnel(call.options.context, call.caller.workspaceId, id)
      return {
        object: 'campaign_funnel' as const,
        campaign_id: showId('cmp', id),
        sequence_id: showId('seq', sequenceId),
        ...funnel,
        nodes: [...funnel.nodes],
      }
    },
  }),
]
