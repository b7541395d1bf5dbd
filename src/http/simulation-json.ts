import { z } from '@hono/zod-openapi'
import { showId } from '../id.js'
import type { LookedSoFar } from '../operations/look-ahead.js'
import type { CampaignSimulation } from '../operations/simulate-campaign.js'

/** What a campaign would send, as clients see it. */
const instant = z.iso.datetime().openapi({ format: 'date-time' })
const count = z.int()

export const simulationSchema = z
  .strictObject({
    object: z.literal('simulation'),
    campaign_id: z.string(),
    from: instant,
    until: instant.openapi({ description: 'The midnight after the last day; not part of it.' }),
    timezone: z.string().openapi({ description: 'Of the days.' }),
    days: z.array(
      z.strictObject({
        day: z.string().openapi({ example: '2026-12-25' }),
        emails: count,
        by_sender: z.array(z.strictObject({ sender_id: z.string(), emails: count })),
        by_step: z
          .array(z.strictObject({ step: count, emails: count }))
          .openapi({ description: 'Of a sequence; empty otherwise.' }),
      }),
    ),
    emails: z
      .array(
        z.strictObject({
          at: instant,
          address: z.string(),
          contact_id: z.string(),
          step: count.nullable().openapi({ description: 'Of a sequence: the place of the email among its emails.' }),
          sender_id: z.string(),
        }),
      )
      .openapi({ description: 'The first of them, in the order they go out.' }),
    total: count.openapi({ description: 'Emails on these days.' }),
    beyond: count.openapi({ description: 'Emails after them.' }),
    truncated: z.boolean().openapi({ description: 'There are more emails on these days than are shown one by one.' }),
    complete: z.boolean().openapi({
      description: 'False with within_ms: this is what was computed by then. Ask the same again until it is true.',
    }),
    progress: z.number().openapi({ description: 'How much of it was computed, from 0 to 1: a guess.' }),
    assumptions: z.array(z.string()).openapi({ description: 'What has to be true for it to come true, in sentences.' }),
  })
  .openapi('Simulation')

type Shown = z.input<typeof simulationSchema>

/** What nobody has waited for the end of. What goes out first is not known before everything is. */
export function toSoFar(campaignId: string, { progress, soFar }: LookedSoFar): Shown {
  if (soFar) return { ...toSimulation(soFar), emails: [], complete: false, progress }
  const now = new Date().toISOString()
  const nothing = { total: 0, beyond: 0, days: [], emails: [], truncated: false, assumptions: [] }
  const about = { campaign_id: showId('cmp', campaignId), from: now, until: now, timezone: 'UTC' }
  return { object: 'simulation', ...about, ...nothing, complete: false, progress }
}

export const toSimulation = (simulation: CampaignSimulation): Shown => ({
  object: 'simulation',
  campaign_id: showId('cmp', simulation.campaign.id),
  from: simulation.from.toISOString(),
  until: simulation.until.toISOString(),
  timezone: simulation.timezone,
  days: simulation.days.map(({ day, emails, bySender, byStep }) => ({
    day,
    emails,
    by_sender: inOrder(bySender).map(([id, sent]) => ({ sender_id: showId('snd', id), emails: sent })),
    by_step: inOrder(byStep).map(([step, sent]) => ({ step, emails: sent })),
  })),
  emails: simulation.emails.map(({ at, address, contactId, step, senderId }) => ({
    at: new Date(at).toISOString(),
    address,
    contact_id: showId('ctc', contactId),
    step,
    sender_id: showId('snd', senderId),
  })),
  total: simulation.total,
  beyond: simulation.beyond,
  truncated: simulation.total > simulation.emails.length,
  complete: true,
  progress: 1,
  assumptions: [...simulation.assumptions],
})

const inOrder = <Key extends string | number>(counts: ReadonlyMap<Key, number>) =>
  [...counts].toSorted(([one], [other]) => (one < other ? -1 : Number(one > other)))
