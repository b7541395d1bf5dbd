import { z } from '@hono/zod-openapi'
import PostalMime, { type Address, type Attachment, type Email as ParsedEmail } from 'postal-mime'
import {
  type CapturedEmail,
  type CapturedHead,
  deleteCapturedEmails,
  findCapturedEmail,
  listCapturedEmails,
} from '../../db/captured-emails.js'
import { showId } from '../../id.js'
import { download } from '../download.js'
import { type Call, type Endpoint, keyed } from '../endpoint.js'
import { asList, forwardQuery, listOf, readPage } from '../pagination.js'
import { RequestError } from '../problem.js'

/** The dev inbox: mail that was captured instead of sent, as a mail client would show it. */
const summaryShape = {
  object: z.literal('captured_email'),
  id: z.string(),
  email_id: z.string(),
  return_path: z.string(),
  recipient: z.string(),
  from: z.string().nullable(),
  to: z.array(z.string()),
  subject: z.string().nullable(),
  size: z.int(),
  captured_at: z.iso.datetime(),
}
const summarySchema = z.strictObject(summaryShape).openapi('CapturedEmailSummary')

const capturedSchema = z
  .strictObject({
    ...summaryShape,
    cc: z.array(z.string()),
    reply_to: z.array(z.string()),
    message_id: z.string().nullable(),
    date: z.string().nullable(),
    headers: z.array(z.strictObject({ name: z.string(), value: z.string() })),
    html: z.string().nullable(),
    text: z.string().nullable(),
    attachments: z.array(
      z.strictObject({
        filename: z.string().nullable(),
        content_type: z.string(),
        content_id: z.string().nullable(),
        disposition: z.string().nullable(),
        size: z.int(),
      }),
    ),
  })
  .openapi('CapturedEmail')

const common = { tag: 'Inbox', scope: 'read' } as const

export const inboxEndpoints: readonly Endpoint[] = [
  keyed({
    ...common,
    method: 'get',
    path: '/api/inbox',
    summary: 'List captured emails',
    description: 'Newest first.',
    query: forwardQuery({}),
    answers: 'A page of captured emails.',
    answer: listOf(summarySchema),
    async run({ options, caller, query }) {
      const page = readPage(query, 'cap')
      const captured = await listCapturedEmails(options.context.db, caller.workspaceId, {
        before: page.after ?? null,
        limit: page.limit + 1,
      })
      const list = asList(captured, page)
      return { ...list, data: await Promise.all(list.data.map(toSummary)) }
    },
  }),
  keyed({
    ...common,
    method: 'delete',
    path: '/api/inbox',
    scope: 'manage',
    summary: 'Empty the inbox',
    answers: 'How many were in it.',
    answer: z.strictObject({ object: z.literal('inbox'), deleted: z.int() }),
    run: async ({ options, caller }) => ({
      object: 'inbox' as const,
      deleted: await deleteCapturedEmails(options.context.db, caller.workspaceId),
    }),
  }),
  keyed({
    ...common,
    method: 'get',
    path: '/api/inbox/{id}',
    summary: 'One captured email',
    answers: 'What a mail client would show.',
    answer: capturedSchema,
    async run(call) {
      const captured = await capturedOf(call)
      return toCaptured(captured, await PostalMime.parse(captured.raw))
    },
  }),
  keyed({
    ...common,
    method: 'get',
    path: '/api/inbox/{id}/raw',
    summary: 'One captured email as it would have gone over the wire',
    answers: 'The message.',
    answer: { contentType: 'message/rfc822' },
    async run(call) {
      const { raw, id } = await capturedOf(call)
      return download(raw, 'message/rfc822', `${showId('cap', id)}.eml`)
    },
  }),
  keyed({
    ...common,
    method: 'get',
    path: '/api/inbox/{id}/attachments/{n}',
    summary: 'One attachment of a captured email',
    description: 'Counted from 0, in the order of the email’s attachments.',
    answers: 'Its content.',
    answer: { contentType: 'application/octet-stream' },
    async run(call) {
      const { attachments } = await PostalMime.parse((await capturedOf(call)).raw)
      const n = call.param('n')
      const attachment = /^\d{1,4}$/.test(n) ? attachments[Number(n)] : undefined
      if (!attachment) throw new RequestError('not_found', 'There is no such attachment.')
      return download(bytesOf(attachment), attachment.mimeType, attachment.filename ?? `attachment-${n}`)
    },
  }),
]

async function capturedOf(call: Call<unknown, unknown>): Promise<CapturedEmail> {
  const captured = await findCapturedEmail(call.options.context.db, call.caller.workspaceId, call.id('cap'))
  if (!captured) throw new RequestError('not_found', 'There is no such captured email.')
  return captured
}

async function toSummary(captured: CapturedHead): Promise<z.input<typeof summarySchema>> {
  const { head } = captured
  const end = head.indexOf('\r\n\r\n')
  return summarize(captured, await PostalMime.parse(end < 0 ? head : head.subarray(0, end + 4)))
}

const summarize = (captured: Omit<CapturedHead, 'head'>, parsed: ParsedEmail): z.input<typeof summarySchema> => ({
  object: 'captured_email',
  id: showId('cap', captured.id),
  email_id: showId('em', captured.emailId),
  return_path: captured.returnPath,
  recipient: captured.recipient,
  from: parsed.from ? writeAddress(parsed.from) : null,
  to: writeAddresses(parsed.to),
  subject: parsed.subject ?? null,
  size: captured.size,
  captured_at: captured.capturedAt.toISOString(),
})

const toCaptured = (captured: CapturedEmail, parsed: ParsedEmail): z.input<typeof capturedSchema> => ({
  ...summarize({ ...captured, size: captured.raw.length }, parsed),
  cc: writeAddresses(parsed.cc),
  reply_to: writeAddresses(parsed.replyTo),
  message_id: parsed.messageId ?? null,
  date: parsed.date ?? null,
  headers: parsed.headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
  html: parsed.html ?? null,
  text: parsed.text ?? null,
  attachments: parsed.attachments.map((attachment) => ({
    filename: attachment.filename,
    content_type: attachment.mimeType,
    content_id: attachment.contentId?.replaceAll(/^<|>$/g, '') ?? null,
    disposition: attachment.disposition,
    size: bytesOf(attachment).length,
  })),
})

const bytesOf = ({ content }: Attachment): Uint8Array =>
  typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content as ArrayBuffer)

const writeAddresses = (addresses: readonly Address[] | undefined) => (addresses ?? []).map(writeAddress)

const writeAddress = ({ name, address }: Address): string => (name ? `${name} <${address ?? ''}>` : (address ?? ''))
