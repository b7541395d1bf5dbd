import { EMAIL_STATUSES } from '../../src/domain/email-status.js'
import { ENROLLMENT_STATES } from '../../src/domain/enrollment.js'
import type { Postrider } from '../../src/index.js'
import { call } from '../campaign/campaign-ground.js'
import type { Ground } from './ground.js'

/** What is asked for, below `/api`. */
export type Reads = readonly string[]

/** Asked with nothing of theirs there, or not about emails at all: they cost what an empty table costs. */
const LEFT_OUT = new Set([
  '/api/imports/{id}',
  '/api/lists/{id}/export', // as long as the list, by design
  '/api/inbox/{id}',
  '/api/inbox/{id}/raw',
  '/api/inbox/{id}/attachments/{n}',
  '/api/emails/{id}/attachments/{n}',
  '/api/admin/session', // of a browser, not of a key
  '/api/events/stream', // does not end
  '/api/openapi.json',
  '/api/docs',
  '/u/{token}',
  '/livez',
  '/readyz',
  '/metrics',
])

type Walked = { readonly data: readonly { readonly id: string; readonly contact_id: string }[] }
type List = { readonly data: readonly { readonly id: string }[] }

/** Every path with what people ask of it: nothing, each status, a word that is there and one that is not, far back. */
export async function readsOf(postrider: Postrider, ground: Ground, paths: readonly string[]): Promise<Reads> {
  const { large, running, list, draft, walks } = ground
  const newest = await call<List>(postrider, 'GET', '/emails?limit=100')
  const { data: people } = await call<List>(postrider, 'GET', `/lists/${list}/contacts?limit=1`)
  const { data: senders } = await call<List>(postrider, 'GET', '/senders')
  const { data: templates } = await call<List>(postrider, 'GET', '/templates')
  const half = await call<List>(postrider, 'GET', `/emails?limit=1&created_before=${hoursAgo(12)}`)
  const oldest = await call<List>(postrider, 'GET', `/emails?limit=1&created_before=${hoursAgo(23)}`)
  const walked = await call<Walked>(postrider, 'GET', `/enrollments?campaign_id=${walks.campaign}&limit=1`)
  const step = await call<List>(postrider, 'GET', `/emails?campaign_id=${walks.campaign}&limit=1`)
  const [email, contact, sender] = [newest.data[50]!.id, people[0]!.id, senders[0]!.id]
  const [{ id: enrollment, contact_id: walker }] = walked.data as [Walked['data'][0]]
  const soon = await call<List>(postrider, 'GET', `/campaigns/${walks.campaign}/scheduled-emails?order=time&limit=100`)

  const statuses = EMAIL_STATUSES.map((status) => `status=${status}`)
  const found = ['q=order%20599', 'q=nothinglikethis', 'to=person7%40example2.com', 'to=nobody%40example.com']
  const filters = [
    ...statuses,
    ...found,
    `sender_id=${sender}`,
    'reason_code=recipient',
    'reason_code=nothinglikethis',
    `created_after=${hoursAgo(6)}&created_before=${hoursAgo(5)}`,
    ...[large, running, walks.campaign].flatMap((id) => [
      `campaign_id=${id}`,
      ...statuses.map((status) => `campaign_id=${id}&${status}`),
      `campaign_id=${id}&q=reader123`,
      `campaign_id=${id}&q=nothinglikethis`,
    ]),
  ]
  const launched = [large, running, walks.campaign]
  const campaigns = [...launched, draft, walks.draft]
  const deep = [half, oldest].map(({ data }) => `after=${data[0]!.id}`)
  const asked: Readonly<Record<string, readonly string[]>> = {
    '/api/emails': ['', ...filters, ...deep, ...deep.flatMap((at) => statuses.map((status) => `${at}&${status}`))].map(
      (query) => `?limit=100&${query}`,
    ),
    '/api/emails/{id}': [email, half.data[0]!.id, step.data[0]!.id],
    '/api/emails/{id}/raw': [email],
    '/api/admin/dashboard': [''],
    '/api/admin/email-counts': ['', ...filters.map((query) => `?${query}`)],
    '/api/admin/outbox': ['', '?status=failed', '?status=scheduled', '?status=uncertain', '?status=retry_scheduled'],
    '/api/admin/throughput': ['?range=1h', '?range=24h', '?range=7d'],
    '/api/admin/upcoming': ['', '?hours=168'],
    '/api/admin/settings': [''],
    '/api/admin/audit': ['', '?action=pause', '?action=nothinglikethis', '?actor=nobody', `?target=${large}`],
    '/api/admin/users': [''],
    '/api/api-keys': [''],
    '/api/workspaces/current': [''],
    '/api/senders': [''],
    '/api/senders/{id}': [sender],
    '/api/senders/{id}/quota': [sender],
    '/api/settings/sending': [''],
    '/api/suppressions': [''],
    '/api/contacts': ['', '?q=reader77', '?q=nothinglikethis', '?email=reader77%40list0.example.com'],
    '/api/contacts/{id}': [contact, walker],
    '/api/contacts/{id}/emails': [contact, walker],
    '/api/lists': [''],
    '/api/lists/{id}': [list],
    '/api/lists/{id}/contacts': [list],
    '/api/imports': [''],
    '/api/templates': [''],
    '/api/templates/{id}': [templates[0]!.id],
    '/api/templates/{id}/versions': [templates[0]!.id],
    '/api/templates/{id}/versions/{version}': [templates[0]!.id],
    '/api/sequences': [''],
    '/api/sequences/{id}': [walks.sequence],
    '/api/sequences/{id}/versions': [walks.sequence],
    '/api/sequences/{id}/versions/{version}': [walks.sequence],
    '/api/campaigns': ['', '?status=running', `?list_id=${list}`, `?sequence_id=${walks.sequence}`],
    '/api/campaigns/{id}': campaigns,
    '/api/campaigns/{id}/schedule': campaigns,
    '/api/campaigns/{id}/scheduled-emails': [
      ...launched,
      ...launched.map((id) => `${id}?order=time`),
      `${walks.campaign}?order=time&after=${soon.data.at(-1)!.id}`,
      `${walks.campaign}?order=time&from=${hoursAgo(-24 * 20)}&to=${hoursAgo(-24 * 21)}`,
    ],
    '/api/campaigns/{id}/preflight': campaigns,
    '/api/campaigns/{id}/failures': campaigns,
    '/api/campaigns/{id}/funnel': [walks.campaign, walks.draft],
    '/api/campaigns/{id}/simulate': campaigns.flatMap((id) =>
      [14, 90].map((days) => `${id}?days=${days}&limit=50&within_ms=80`),
    ),
    '/api/enrollments': [
      '',
      ...[large, walks.campaign].map((id) => `?campaign_id=${id}`),
      ...ENROLLMENT_STATES.map((state) => `?campaign_id=${walks.campaign}&state=${state}`),
      `?contact_id=${walker}`,
    ],
    '/api/enrollments/{id}': [enrollment],
    '/api/inbox': [''],
  }
  const unknown = paths.filter((path) => !(path in asked) && !LEFT_OUT.has(path))
  if (unknown.length > 0) throw new Error(`Nobody said what to ask of ${unknown.join(', ')}.`)
  return Object.entries(asked)
    .filter(([path]) => paths.includes(path))
    .flatMap(([path, ways]) =>
      ways.map((way) => {
        const [id, query] = way.split('?')
        const filled = path.includes('{id}')
          ? path.replace('{id}', id!).replace('{version}', '1') + (query === undefined ? '' : `?${query}`)
          : path + way
        return filled.slice('/api'.length)
      }),
    )
}

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
