import { z } from '@hono/zod-openapi'
import { findSender, listSenders, type Sender } from '../../db/senders.js'
import { PostriderError } from '../../errors.js'
import { showId } from '../../id.js'
import {
  changeSender,
  createSender,
  holdSender,
  releaseSender,
  removeSender,
  type SenderInput,
} from '../../operations/senders.js'
import { type Call, type Endpoint, keyed } from '../endpoint.js'
import { paceInput, toPaceInput } from '../pace-json.js'
import { asList, listOf, pageOf, pageQuery, readPage } from '../pagination.js'
import { fields, text } from '../read-input.js'
import { PROVIDERS, senderSchema, senderTestSchema, toSender, toSenderTest } from '../sender-json.js'

const inputShape = {
  name: text(1_000).nullable().optional(),
  provider: z.enum(PROVIDERS).optional(),
  smtp_url: text(10_000).optional().openapi({ description: 'smtp://user:password@host:port; stored encrypted.' }),
  is_default: z.boolean().optional(),
  pace: paceInput.nullable().optional().openapi({ description: 'The whole of it; null takes it away.' }),
  dkim: fields({ domain: text(253), selector: text(63), private_key: text(10_000) })
    .nullable()
    .optional()
    .openapi({ description: 'What it signs with, with a smtp_url of its own; stored encrypted. Null stops signing.' }),
}
const newSender = fields({ address: text(4_000), ...inputShape }).openapi('NewSender')
const senderChange = fields({ address: text(4_000).optional(), ...inputShape }).openapi('SenderChange')

const common = { tag: 'Senders', answers: 'The sender.', answer: senderSchema } as const

export const senderEndpoints: readonly Endpoint[] = [
  keyed({
    ...common,
    method: 'get',
    path: '/api/senders',
    scope: 'read',
    summary: 'List senders',
    query: pageQuery({}),
    answers: 'A page of senders.',
    answer: listOf(senderSchema),
    async run({ options, caller, query }) {
      const page = readPage(query, 'snd')
      const senders = await listSenders(options.context.db, caller.workspaceId)
      return asList(pageOf(senders, page).map(toSender), page)
    },
  }),
  keyed({
    ...common,
    method: 'post',
    path: '/api/senders',
    scope: 'manage',
    summary: 'Make a sender',
    body: newSender,
    example: { address: 'Ada <ada@example.com>', smtp_url: 'smtps://user:password@mail.example.com' },
    status: 201,
    problems: ['sender_invalid', 'sender_conflict'],
    run: async ({ options, caller, body }) =>
      toSender(await createSender(options.context, caller.workspaceId, toInput(body))),
  }),
  keyed({
    ...common,
    method: 'get',
    path: '/api/senders/{id}',
    scope: 'read',
    summary: 'One sender',
    problems: ['sender_not_found'],
    run: async (call) => toSender(await senderOf(call)),
  }),
  keyed({
    ...common,
    method: 'patch',
    path: '/api/senders/{id}',
    scope: 'manage',
    summary: 'Change a sender',
    body: senderChange,
    example: { is_default: true },
    problems: ['sender_not_found', 'sender_invalid', 'sender_conflict'],
    run: async (call) =>
      toSender(await changeSender(call.options.context, call.caller.workspaceId, call.id('snd'), toInput(call.body))),
  }),
  keyed({
    ...common,
    method: 'delete',
    path: '/api/senders/{id}',
    scope: 'manage',
    summary: 'Remove a sender',
    answers: 'It is gone.',
    answer: z.strictObject({ object: z.literal('sender'), id: z.string(), deleted: z.literal(true) }),
    problems: ['sender_not_found', 'sender_conflict'],
    async run(call) {
      const id = call.id('snd')
      await removeSender(call.options.context, call.caller.workspaceId, id)
      return { object: 'sender' as const, id: showId('snd', id), deleted: true as const }
    },
  }),
  keyed({
    ...common,
    method: 'post',
    path: '/api/senders/{id}/pause',
    scope: 'manage',
    summary: 'Pause a sender',
    description: 'What it would send waits.',
    body: fields({ reason: text(2_000).optional() }),
    bodyOptional: true,
    example: { reason: 'The domain moves on Friday' },
    problems: ['sender_not_found'],
    async run(call) {
      const { context } = call.options
      const reason = call.body.reason ?? `paused by ${call.caller.name}`
      return toSender(await holdSender(context, call.caller.workspaceId, call.id('snd'), reason))
    },
  }),
  keyed({
    ...common,
    method: 'post',
    path: '/api/senders/{id}/resume',
    scope: 'manage',
    summary: 'Resume a sender',
    problems: ['sender_not_found'],
    run: async (call) => toSender(await releaseSender(call.options.context, call.caller.workspaceId, call.id('snd'))),
  }),
  keyed({
    ...common,
    method: 'post',
    path: '/api/senders/{id}/test',
    scope: 'manage',
    summary: 'Connect and log in as a sender would',
    description: 'Nothing is sent.',
    answers: 'How far it came.',
    answer: senderTestSchema,
    problems: ['sender_not_found'],
    async run(call) {
      const { id } = await senderOf(call)
      return toSenderTest(await call.options.context.testSender(call.caller.workspaceId, id))
    },
  }),
]

async function senderOf(call: Call<unknown, unknown>): Promise<Sender> {
  const sender = await findSender(call.options.context.db, call.caller.workspaceId, call.id('snd'))
  if (!sender) throw new PostriderError('sender_not_found', 'There is no such sender.')
  return sender
}

const toInput = ({
  name,
  address,
  provider,
  smtp_url,
  is_default,
  dkim,
  pace,
}: z.output<typeof senderChange>): SenderInput => ({
  ...(name !== undefined && { name }),
  ...(address !== undefined && { address }),
  ...(provider !== undefined && { provider }),
  ...(smtp_url !== undefined && { smtpUrl: smtp_url }),
  ...(is_default !== undefined && { isDefault: is_default }),
  ...(dkim !== undefined && {
    dkim: dkim && { domain: dkim.domain, selector: dkim.selector, privateKey: dkim.private_key },
  }),
  ...(pace !== undefined && { pace: pace && toPaceInput(pace) }),
})
