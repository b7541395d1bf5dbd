import { z } from '@hono/zod-openapi'
import { showId } from '../../id.js'
import { readCampaignFailures } from '../../operations/read-campaign-failures.js'
import { type Endpoint, keyed } from '../endpoint.js'

const instant = z.iso.datetime().openapi({ format: 'date-time' })

const failuresSchema = z
  .strictObject({
    object: z.literal('campaign_failures'),
    id: z.string(),
    emails: z.int().openapi({ description: 'How many failed emails were looked at.' }),
    truncated: z.boolean().openapi({ description: 'There are more than were looked at.' }),
    groups: z.array(
      z.strictObject({
        reason_code: z.string().openapi({ example: 'recipient' }),
        emails: z.int(),
        last_at: instant,
        reasons: z
          .array(z.strictObject({ text: z.string(), emails: z.int(), email_id: z.string() }))
          .openapi({ description: 'What servers said, without what differs between recipients; the most frequent.' }),
      }),
    ),
  })
  .openapi('CampaignFailures')

export const campaignFailureEndpoints: readonly Endpoint[] = [
  keyed({
    method: 'get',
    path: '/api/campaigns/{id}/failures',
    tag: 'Campaigns',
    scope: 'read',
    summary: 'Why emails of it failed',
    description: 'Of those that are failed now, by reason. `GET /api/emails?campaign_id=…&status=failed` lists them.',
    answers: 'The reasons, the most frequent first, each with an email it was said about.',
    answer: failuresSchema,
    problems: ['campaign_not_found'],
    async run(call) {
      const id = call.id('cmp')
      const { groups, ...rest } = await readCampaignFailures(call.options.context, call.caller.workspaceId, id)
      return {
        object: 'campaign_failures' as const,
        id: showId('cmp', id),
        ...rest,
        groups: groups.map(({ code, emails, lastAt, reasons }) => ({
          reason_code: code,
          emails,
          last_at: lastAt.toISOString(),
          reasons: reasons.map((reason) => ({
            text: reason.text,
            emails: reason.emails,
            email_id: showId('em', reason.example),
          })),
        })),
      }
    },
  }),
]
