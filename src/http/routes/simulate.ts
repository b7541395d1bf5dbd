import { z } from '@hono/zod-openapi'
import { isTimezone } from '../../domain/zone-days.js'
import { lookAhead } from '../../operations/look-ahead.js'
import { MOST_SIMULATED_DAYS, MOST_SIMULATED_EMAILS, simulateCampaign } from '../../operations/simulate-campaign.js'
import { type Endpoint, keyed } from '../endpoint.js'
import { fields, text, withinMs } from '../read-input.js'
import { simulationSchema, toSimulation, toSoFar } from '../simulation-json.js'

const whole = (least: number, most: number, fallback: number) => {
  const error = `must be a whole number from ${least} to ${most}`
  return z.coerce
    .number({ error })
    .int(error)
    .min(least, error)
    .max(most, error)
    .default(fallback)
    .openapi({ type: 'integer', minimum: least, maximum: most, default: fallback })
}

export const simulateEndpoints: readonly Endpoint[] = [
  keyed({
    tag: 'Campaigns',
    method: 'get',
    path: '/api/campaigns/{id}/simulate',
    scope: 'read',
    summary: 'Look ahead',
    description: 'What it would send in the next days if nobody answered, as if it were launched or resumed now.',
    query: fields({
      days: whole(1, MOST_SIMULATED_DAYS, 14).openapi({ description: 'How many days, today among them.' }),
      limit: whole(0, MOST_SIMULATED_EMAILS, 100).openapi({ description: 'How many emails are shown one by one.' }),
      timezone: text(100)
        .refine(isTimezone, 'is not a timezone: write a name such as Europe/Paris')
        .optional()
        .openapi({ description: "Of the days. Without it, the first sender's." }),
      within_ms: withinMs(
        'Answer after so long, with what was computed by then and complete: false. It goes on, for whoever asks the same within the next seconds.',
        'query',
      ),
    }),
    answers: 'The calendar. Nothing was written.',
    answer: simulationSchema,
    problems: ['campaign_not_found', 'campaign_not_ready'],
    async run(call) {
      const { within_ms: patienceMs, ...input } = call.query
      const [{ context }, { workspaceId }, id] = [call.options, call.caller, call.id('cmp')]
      if (patienceMs === undefined) return toSimulation(await simulateCampaign(context, workspaceId, id, input))
      const looked = await lookAhead(context, workspaceId, id, input, patienceMs)
      return 'progress' in looked ? toSoFar(id, looked) : toSimulation(looked)
    },
  }),
]
