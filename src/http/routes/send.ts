import { z } from '@hono/zod-openapi'
import { sendEmails, type SendOptions, type SendResult } from '../../operations/send-emails.js'
import type { NewEmail } from '../../domain/new-email.js'
import { emailRef, emailStatus, toEmailRef } from '../email-json.js'
import { type Call, type Endpoint, keyed } from '../endpoint.js'
import { newEmailSchema, toNewEmail } from '../new-email-json.js'
import { describeProblems, fromOperation, type InputProblem, refusal } from '../problem.js'
import { checkInput, readInput } from '../read-input.js'

/** Accepting emails. Every 202 stands for a committed row. */
const EXAMPLE = { to: 'Ada <ada@example.com>', subject: 'Hello', text: 'It works.' }
const KEY_HEADER = {
  'Idempotency-Key':
    '1 to 256 characters. The same key and body get the first answer again, with Idempotency-Replayed: true.',
}

const BATCH_LIMIT = 100
const MODES = ['strict', 'permissive'] as const

const batchAnswer = z
  .strictObject({
    data: z.array(z.strictObject({ id: z.string(), status: emailStatus })),
    errors: z
      .array(z.strictObject({ index: z.int(), message: z.string() }))
      .optional()
      .openapi({ description: 'Only with x-batch-validation: permissive.' }),
  })
  .openapi('BatchAnswer')

// Only counted here: in a permissive batch each email is looked at by itself.
const batchSchema = z
  .array(z.unknown())
  .min(1, 'needs at least one email')
  .max(BATCH_LIMIT, `may hold at most ${BATCH_LIMIT} emails`)
  .openapi({ type: 'array', items: { $ref: '#/components/schemas/NewEmail' }, minItems: 1, maxItems: BATCH_LIMIT })

export const sendEndpoints: readonly Endpoint[] = [
  keyed({
    method: 'post',
    path: '/api/emails',
    scope: 'send',
    tag: 'Emails',
    summary: 'Send an email',
    description: 'Answers when the email is stored; a worker sends it. With delivery: inline it is tried at once.',
    body: newEmailSchema,
    example: EXAMPLE,
    headers: KEY_HEADER,
    status: 202,
    answers: 'Accepted, and stored.',
    answer: emailRef,
    problems: ['email_invalid', 'idempotency_mismatch', 'idempotency_in_flight'],
    async run(call) {
      const { emails } = await send(call, [toNewEmail(call.body)], {})
      return toEmailRef(emails[0]!)
    },
  }),
  keyed({
    method: 'post',
    path: '/api/emails/batch',
    scope: 'send',
    tag: 'Emails',
    summary: `Send up to ${BATCH_LIMIT} emails`,
    description: 'All or none, or with x-batch-validation: permissive the valid ones.',
    body: batchSchema,
    example: [EXAMPLE, { ...EXAMPLE, to: 'grace@example.com' }],
    headers: { ...KEY_HEADER, 'x-batch-validation': 'strict (the default) or permissive.' },
    status: 202,
    answers: 'Accepted, and stored, in the order given.',
    answer: batchAnswer,
    problems: ['email_invalid', 'idempotency_mismatch', 'idempotency_in_flight'],
    run: (call) => (readMode(call.header('x-batch-validation')) === 'strict' ? sendAll(call) : sendValid(call)),
  }),
]

async function sendAll(call: Call<unknown, unknown[]>): Promise<z.input<typeof batchAnswer>> {
  const inputs = readInput(z.array(newEmailSchema), call.body, 'body')
  return toBatchAnswer(await send(call, inputs.map(toNewEmail), { batch: true, mode: 'strict' }))
}

async function sendValid(call: Call<unknown, unknown[]>): Promise<z.input<typeof batchAnswer>> {
  const valid: { readonly index: number; readonly email: NewEmail }[] = []
  const errors: { index: number; message: string }[] = []
  for (const [index, item] of call.body.entries()) {
    const { data, problems } = checkInput(newEmailSchema, item, 'body')
    if (problems) errors.push({ index, message: messageOf(problems) })
    else valid.push({ index, email: toNewEmail(data) })
  }
  if (valid.length === 0) return { data: [], errors }
  const emails = valid.map(({ email }) => email)
  const result = await send(call, emails, { batch: true, mode: 'permissive' })
  for (const { index, problems } of result.refused)
    errors.push({ index: valid[index]!.index, message: messageOf(fromOperation(problems)) })
  return { ...toBatchAnswer(result), errors: errors.toSorted((a, b) => a.index - b.index) }
}

const messageOf = (problems: readonly InputProblem[]) => describeProblems(problems) ?? 'The email is not valid.'

async function send(
  call: Call<unknown, unknown>,
  emails: readonly NewEmail[],
  options: SendOptions,
): Promise<SendResult> {
  const { context, inlineDeadlineMs } = call.options
  const result = await sendEmails(context, call.caller.workspaceId, emails, {
    ...options,
    idempotencyKey: readKey(call.header('idempotency-key')),
    deadlineMs: inlineDeadlineMs,
  })
  if (result.replayed) call.setHeader('Idempotency-Replayed', 'true')
  return result
}

const toBatchAnswer = ({ emails }: SendResult) => ({
  data: emails.map((email) => {
    const { id, status } = toEmailRef(email)
    return { id, status }
  }),
})

function readKey(key: string | undefined): string | undefined {
  if (key !== undefined && (key.length < 1 || key.length > 256))
    throw refusedHeader('Idempotency-Key', 'must have 1 to 256 characters')
  return key
}

function readMode(mode: string | undefined): (typeof MODES)[number] {
  const read = MODES.find((known) => known === (mode ?? 'strict'))
  if (!read) throw refusedHeader('x-batch-validation', `must be ${MODES.join(' or ')}`)
  return read
}

const refusedHeader = (name: string, detail: string) => refusal([{ in: 'header', path: [name], detail }])
