import { expect } from 'vitest'
import { insertCampaign } from '../../src/db/campaigns.js'
import { insertCapturedEmails } from '../../src/db/captured-emails.js'
import { upsertContacts } from '../../src/db/contacts.js'
import { insertEnrollments } from '../../src/db/enrollments.js'
import { insertImport } from '../../src/db/imports.js'
import { insertList, joinList } from '../../src/db/lists.js'
import { insertSequence } from '../../src/db/sequences.js'
import { insertSuppressions } from '../../src/db/suppressions.js'
import { insertTemplate } from '../../src/db/templates.js'
import { upsertConfiguredSender } from '../../src/db/senders.js'
import { upsertWorkspace } from '../../src/db/workspaces.js'
import type { DashboardRole } from '../../src/domain/dashboard-role.js'
import { SCOPES, type Scope } from '../../src/domain/scopes.js'
import { type Endpoint, schemaOf } from '../../src/http/endpoint.js'
import { ENDPOINTS } from '../../src/http/endpoints.js'
import { describeApi } from '../../src/http/openapi.js'
import { problemSchema } from '../../src/http/problem.js'
import { DEFAULT_WORKSPACE, newId, readId, showId } from '../../src/id.js'
import type { PostriderOptions } from '../../src/index.js'
import { createApiKey } from '../../src/operations/api-keys.js'
import { inviteUser } from '../../src/operations/dashboard-links.js'
import { startSession } from '../../src/operations/dashboard-sessions.js'
import { type MailFixture, openMail } from '../sending/mail-fixture.js'
import type { DatabaseKind } from '../support/test-database.js'

export const API_KEY = 'the-key-of-the-settings'
export const CRON_SECRET = 'the-secret-of-the-cron'

export interface Asked {
  /** Null: none. */
  readonly key?: string | null
  readonly json?: unknown
  /** Sent as it is. */
  readonly body?: string | Buffer<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- what an answer holds is what the tests are about
  readonly body: any
}

export interface Api extends MailFixture {
  /** Asks, and insists that the answer is one the OpenAPI document promises. */
  call(route: string, request?: Asked): Promise<Answer>
  /** The headers of somebody who is logged in to the dashboard. */
  logIn(role: DashboardRole, name?: string): Promise<Record<'cookie' | 'x-postrider-dashboard', string>>
  makeKey(scopes?: readonly Scope[], workspaceId?: string): Promise<string>
  /** A workspace of its own with one of everything, whose subjects and addresses contain "elsewhere". */
  elsewhere(): Promise<Elsewhere>
  /** Puts the deliveries of an email into a state, as workers would have. */
  force(emailId: string, state: 'failed' | 'uncertain', reason?: string): Promise<void>
}

export interface Elsewhere {
  readonly key: string
  readonly email: string
  readonly sender: string
  readonly apiKey: string
  readonly captured: string
  readonly suppressed: string
  readonly contact: string
  readonly list: string
  readonly import: string
  readonly template: string
  readonly campaign: string
  readonly enrollment: string
  readonly sequence: string
  readonly user: string
}

export const RAW_EMAIL = [
  'From: Tests <tests@sender.test>',
  'To: Ada <ada@example.com>',
  'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
  'Message-ID: <raw@sender.test>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/html; charset=utf-8',
  '',
  '<p>Hello</p>',
  '--b',
  'Content-Type: text/html; name="evil.html"',
  'Content-Disposition: attachment; filename="evil.html"',
  'Content-Transfer-Encoding: base64',
  '',
  Buffer.from('<script>alert(1)</script>').toString('base64'),
  '--b--',
  '',
].join('\r\n')

export function openApi(kind: DatabaseKind, options: PostriderOptions = {}): Api {
  const fixture = openMail(kind, { apiKey: API_KEY, cronSecret: CRON_SECRET, rateLimit: 100_000, ...options })
  const db = () => fixture.mail.context.db

  const call: Api['call'] = (route, request = {}) => callApi((asked) => fixture.mail.fetch(asked), route, request)
  const makeKey: Api['makeKey'] = async (scopes = SCOPES, workspaceId = DEFAULT_WORKSPACE) =>
    (await createApiKey(db(), workspaceId, { name: 'a test', scopes })).key

  return Object.assign(Object.create(fixture) as MailFixture, {
    call,
    makeKey,
    async logIn(role: DashboardRole, name = `${role}-${newId().slice(-12)}`) {
      const { user } = await inviteUser(db(), DEFAULT_WORKSPACE, { name, role })
      // As if a password had been chosen: hashing one takes its time, and most tests are not about that.
      await db().query(`update postrider.dashboard_users set password_hash = 'of the tests' where id = $1`, [user.id])
      const token = await startSession(db(), { userId: user.id, passwordHash: 'of the tests' }, 'tests')
      return { cookie: `postrider_session=${token}`, 'x-postrider-dashboard': '1' }
    },
    async elsewhere() {
      const { id } = await upsertWorkspace(db(), newId(), 'elsewhere')
      const [sender, captured] = [newId(), newId()]
      await upsertConfiguredSender(db(), id, sender, {
        name: null,
        address: 'me@elsewhere.test',
        foldedAddress: 'me@elsewhere.test',
        provider: 'capture',
      })
      const key = await makeKey(SCOPES, id)
      const made = await createApiKey(db(), id, { name: 'elsewhere', scopes: ['read'] })
      const { user } = await inviteUser(db(), id, { name: 'elsewhere', role: 'operator' })
      const suppressed = 'gone@elsewhere.test'
      await insertSuppressions(db(), id, [suppressed], { scope: 'all', reason: 'manual', detail: null })
      const [contact] = await upsertContacts(db(), id, [
        {
          address: 'you@elsewhere.test',
          foldedAddress: 'you@elsewhere.test',
          name: 'elsewhere',
          attributes: {},
          timezone: null,
        },
      ])
      const list = (await insertList(db(), id, newId(), { name: 'elsewhere', description: null }))!
      await joinList(db(), list.id, [contact!.id])
      const imported = await insertImport(db(), id, newId(), list.id)
      const template = newId()
      await insertTemplate(db(), id, template, 'elsewhere', { subject: 'elsewhere', html: null, text: 'elsewhere' })
      const campaign = newId()
      await insertCampaign(db(), id, campaign, {
        name: 'elsewhere',
        listId: list.id,
        templateId: template,
        sequenceId: null,
        senderId: sender,
        replyTo: null,
        batchSize: 500,
        hourlyLimit: null,
        followPace: false,
        scheduledAt: null,
        expiresAt: null,
      })
      const [sequence, walked, enrollment] = [newId(), newId(), newId()]
      const graph = { start: 'wait', nodes: [{ id: 'wait', type: 'wait' as const, durationMs: 60_000, next: null }] }
      await insertSequence(db(), id, sequence, 'elsewhere', graph)
      await db().query(
        `insert into postrider.campaigns (id, workspace_id, name, list_id, sequence_id, sequence_version, sender_id, batch_size)
         values ($1, $2, 'elsewhere', $3, $4, 1, $5, 500)`,
        [walked, id, list.id, sequence, sender],
      )
      await insertEnrollments(db(), id, [
        {
          id: enrollment,
          campaignId: walked,
          sequenceId: sequence,
          contactId: contact!.id,
          senderId: sender,
          nodeId: null,
          arrived: false,
          visit: 1,
        },
      ])
      const letter = { to: 'you@elsewhere.test', subject: 'elsewhere', text: 'elsewhere' }
      const { body } = await call('POST /api/emails', { key, json: letter })
      const raw = Buffer.from(RAW_EMAIL.replace(/Subject: .*/, 'Subject: elsewhere'))
      const emailId = readId('em', body.id as string)!
      await insertCapturedEmails(db(), [
        { id: captured, workspaceId: id, emailId, returnPath: 'me@elsewhere.test', recipient: 'elsewhere', raw },
      ])
      return {
        key,
        email: body.id as string,
        sender: showId('snd', sender),
        apiKey: showId('key', made.apiKey.id),
        captured: showId('cap', captured),
        suppressed,
        contact: showId('ctc', contact!.id),
        list: showId('lst', list.id),
        import: showId('imp', imported.id),
        template: showId('tpl', template),
        campaign: showId('cmp', campaign),
        enrollment: showId('enr', enrollment),
        sequence: showId('seq', sequence),
        user: showId('usr', user.id),
      }
    },
    async force(emailId: string, state: 'failed' | 'uncertain', reason = 'the test said so') {
      await db().query(
        `update postrider.scheduled_actions set state = $2, needs_attention = true, wake_at = null, reason = $3,
           reason_code = 'test', lease_token = case $2 when 'uncertain' then gen_random_uuid() end where message_id = $1`,
        [readId('em', emailId), state, reason],
      )
    },
  })
}

const DOCUMENT = describeApi(ENDPOINTS)

/** Anything that answers requests, asked as a client would, its answer held against what is documented. */
export async function callApi(
  fetch: (request: Request) => Response | Promise<Response>,
  route: string,
  { key = API_KEY, json, body, headers = {} }: Asked,
): Promise<Answer> {
  const [method, path] = route.split(' ') as [string, string]
  const content = body ?? (json === undefined ? undefined : JSON.stringify(json))
  const request = new Request(`http://localhost${path}`, {
    method,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(content !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(content !== undefined && { body: content }),
  })
  const response = await fetch(request)
  const type = response.headers.get('content-type') ?? ''
  const answer = type.includes('json') ? await response.json() : await readText(response, type)
  checkAnswer(method, path, response, answer)
  return { status: response.status, headers: response.headers, body: answer }
}

/** A stream never ends by itself: of that, what it begins with. */
async function readText(response: Response, type: string): Promise<string> {
  if (type !== 'text/event-stream') return response.text()
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const { value = '' } = await reader.read()
  await reader.cancel()
  return value
}

function checkAnswer(method: string, path: string, response: Response, body: unknown): void {
  const { status, headers } = response
  expect(headers.get('x-request-id')).toMatch(/^[\w.:=-]+$/)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('cache-control')).toBe('no-store')
  const endpoint = findEndpoint(method, path)
  if (status >= 400) {
    expect(headers.get('content-type')).toBe('application/problem+json')
    const problem = problemSchema.parse(body)
    expect(problem).toMatchObject({
      status,
      type: `/api/docs#${problem.code}`,
      request_id: headers.get('x-request-id'),
    })
    expect(JSON.stringify(problem)).not.toMatch(/node_modules|\.ts:\d|at \w+ \(/)
    if (endpoint) expect(describedCodes(endpoint, status), `${status} of ${method} ${path}`).toContain(problem.code)
    return
  }
  expect(endpoint, `${method} ${path} is documented`).toBeDefined()
  expect([endpoint!.status ?? 200, endpoint!.otherwise?.status]).toContain(status)
  const schema = schemaOf(endpoint!)
  if (schema) schema.parse(body)
  else expect(headers.get('content-type')).toMatch(/^\w+\/\w+/)
}

function findEndpoint(method: string, path: string): Endpoint | undefined {
  const [bare] = path.split('?')
  const shape = (endpoint: Endpoint) => new RegExp(`^${endpoint.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
  return ENDPOINTS.find((endpoint) => endpoint.method.toUpperCase() === method && shape(endpoint).test(bare!))
}

function describedCodes({ method, path }: Endpoint, status: number): string[] {
  const operation = (
    DOCUMENT.paths as Record<string, Record<string, { responses: Record<string, { description: string }> }>>
  )[path]![method]!
  return [...(operation.responses[status]?.description ?? '').matchAll(/(\w+):/g)].map(([, code]) => code!)
}
