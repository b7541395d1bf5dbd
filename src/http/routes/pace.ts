import { z } from '@hono/zod-openapi'
import { findSender, listSenders, type Sender } from '../../db/senders.js'
import { readIsoDate } from '../../domain/zone-days.js'
import { PostriderError } from '../../errors.js'
import { previewOfPace } from '../../operations/preview-pace.js'
import { readSenderQuota } from '../../operations/sender-quota.js'
import { changeSender } from '../../operations/senders.js'
import { type Call, type Endpoint, keyed } from '../endpoint.js'
import { paceInput, paceSchema, toPace, toPaceInput } from '../pace-json.js'
import { readReference } from '../pagination.js'
import { fields, text } from '../read-input.js'

/** The pace of the default sender, and how much of a sender's quota is left. */
const quotaSchema = z
  .strictObject({
    date: z.string().openapi({ description: "A day of the sender's own calendar." }),
    quota: z.int().nullable().openapi({ description: 'Null: as many as there are.' }),
    booked: z.int().openapi({ description: 'Planned for that day, gone out or not.' }),
    sent: z.int(),
    remaining: z.int().nullable(),
  })
  .openapi('SenderQuota')

const previewSchema = z
  .strictObject({
    timezone: z.string(),
    open_now: z.boolean(),
    days: z.array(
      z.strictObject({
        date: z.string(),
        opens_at: z.iso.datetime(),
        closes_at: z.iso.datetime(),
        quota: z.int().nullable(),
        fits: z.int().nullable().openapi({ description: 'About as many as find a place in the window.' }),
      }),
    ),
    slots: z.array(z.iso.datetime()),
  })
  .openapi('PacePreview')

const settings = { tag: 'Senders', path: '/api/settings/sending', answers: 'The pace.', answer: paceSchema } as const

export const paceEndpoints: readonly Endpoint[] = [
  keyed({
    ...settings,
    method: 'get',
    scope: 'read',
    summary: "The default sender's pace",
    description: 'Without a pace of its own, one that restricts nothing.',
    problems: ['sender_not_found'],
    run: async (call) => toPace((await defaultSender(call)).pace),
  }),
  keyed({
    ...settings,
    method: 'put',
    scope: 'manage',
    summary: "Set the default sender's pace",
    description: 'The whole of it: what is absent restricts nothing.',
    body: paceInput,
    example: { timezone: 'Europe/Paris', sending_days: [1, 2, 3, 4, 5], start_hour: 9, end_hour: 17, daily_quota: 200 },
    problems: ['sender_not_found', 'sender_invalid', 'sender_conflict'],
    async run(call) {
      const { id } = await defaultSender(call)
      const pace = toPaceInput(call.body)
      try {
        return toPace((await changeSender(call.options.context, call.caller.workspaceId, id, { pace })).pace)
      } catch (error) {
        throw error instanceof PostriderError ? withoutPrefix(error) : error
      }
    },
  }),
  keyed({
    tag: 'Senders',
    method: 'post',
    path: '/api/settings/sending/preview',
    scope: 'read',
    summary: 'What a pace would yield',
    description: 'The next days and slots of a sender that has nothing booked. Nothing is saved.',
    body: fields({
      pace: paceInput,
      sender_id: text(100).optional().openapi({ description: 'For the ramp-up of a sender that has begun one.' }),
    }),
    example: { pace: { timezone: 'Europe/Paris', sending_days: [1, 2, 3, 4, 5], start_hour: 9, end_hour: 17 } },
    answers: 'Its next days and slots.',
    answer: previewSchema,
    problems: ['sender_not_found', 'sender_invalid'],
    async run({ options, caller, body }) {
      const senderId = body.sender_id === undefined ? [] : [readReference(body.sender_id, 'sender_id', 'snd')]
      return toPreview(await previewOfPace(options.context, caller.workspaceId, toPaceInput(body.pace), ...senderId))
    },
  }),
  keyed({
    tag: 'Senders',
    method: 'get',
    path: '/api/senders/{id}/quota',
    scope: 'read',
    summary: "A sender's quota on a day",
    query: fields({
      date: text(10)
        .refine((date) => readIsoDate(date) !== null, 'must be a date such as 2026-12-25')
        .optional()
        .openapi({ description: 'Without it, today by the clocks of the sender.' }),
    }),
    answers: 'How much of it is used.',
    answer: quotaSchema,
    problems: ['sender_not_found'],
    async run(call) {
      const { db } = call.options.context
      const sender = await findSender(db, call.caller.workspaceId, call.id('snd'))
      if (!sender) throw notFound()
      return { ...(await readSenderQuota(db, sender, call.query.date)) }
    },
  }),
]

const toPreview = ({ timezone, openNow, days, slots }: Awaited<ReturnType<typeof previewOfPace>>) => ({
  timezone,
  open_now: openNow,
  days: days.map(({ date, opensAt, closesAt, quota, fits }) => ({
    date,
    opens_at: opensAt.toISOString(),
    closes_at: closesAt.toISOString(),
    quota,
    fits,
  })),
  slots: slots.map((slot) => slot.toISOString()),
})

async function defaultSender(call: Call<unknown, unknown>): Promise<Sender> {
  const senders = await listSenders(call.options.context.db, call.caller.workspaceId)
  const found = senders.find(({ isDefault }) => isDefault)
  if (!found) throw notFound()
  return found
}

/** Here the body is the pace itself, not a sender that has one. */
const withoutPrefix = (error: PostriderError): PostriderError =>
  new PostriderError(error.code, error.message, {
    problems: error.problems.map(({ path, detail }) => ({ path: path[0] === 'pace' ? path.slice(1) : path, detail })),
  })

const notFound = () => new PostriderError('sender_not_found', 'There is no such sender.')
