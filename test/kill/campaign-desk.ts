import { type Agent, request } from 'node:http'
import { createLinkSigner } from '../../src/link-signer.js'
import { createPostrider, type Postrider } from '../../src/index.js'
import { readId, showId } from '../../src/id.js'
import { silent } from '../support/kernel.js'
import { API_KEY } from './api-key.js'
import type { EmailRecord } from './records.js'

/** Somebody on the list, and how they leave it while the campaign runs, if they do. */
export interface Person {
  readonly recipient: string
  readonly contactId: string
  readonly leaves: Leaving | null
}

export const LEAVINGS = ['removed', 'unsubscribed', 'suppressed'] as const
export type Leaving = (typeof LEAVINGS)[number]

export interface Counts {
  readonly audience: number
  readonly not_planned: number
  readonly sent: number
  readonly [state: string]: number
}

export interface CampaignView {
  readonly status: string
  readonly counts: Counts
}

export interface LaunchedCampaign {
  /** As the API shows it. */
  readonly id: string
  readonly laneId: string
  readonly listId: string
  readonly people: readonly Person[]
}

export interface Place {
  readonly databaseUrl: string | null
  readonly dataDirectory: string
}

/** As mail-program.ts has it: links are signed with it. */
const SECRET = 'a secret of the kill suite'
const ADDED_TOGETHER = 1_000

/**
 * A Postrider in the test's own process that sends nothing. It is there before the storm, to launch a campaign, and after
 * it, to read what became of it; never meanwhile, since the embedded database belongs to those that are killed.
 */
async function atTheDesk<T>({ databaseUrl, dataDirectory }: Place, work: (desk: Postrider) => Promise<T>): Promise<T> {
  const desk = await createPostrider({
    databaseUrl,
    dataDirectory,
    migrate: false,
    smtpUrl: 'smtp://127.0.0.1:1',
    mailFrom: { name: 'Kill suite', address: 'kill@sender.test' },
    secret: SECRET,
    apiKey: API_KEY,
    rateLimit: 1_000_000,
    log: silent,
  })
  return work(desk).finally(() => desk.stop())
}

async function call<T>(desk: Postrider, method: string, path: string, body?: unknown): Promise<T> {
  const headers = { Authorization: `Bearer ${API_KEY}`, 'Content-Type': 'application/json' }
  const sent = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await desk.fetch(new Request(`http://desk/api${path}`, sent))
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.json() as Promise<T>
}

export interface Audience {
  readonly domain: string
  readonly people: number
  readonly batchSize: number
  readonly leaving: (index: number) => Leaving | null
}

/** Nobody works yet: the batches begin with the first worker. */
export const launch = (place: Place, { domain, people, batchSize, leaving }: Audience): Promise<LaunchedCampaign> =>
  atTheDesk(place, async (desk) => {
    const list = await call<{ id: string }>(desk, 'POST', '/lists', { name: `Readers at ${domain}` })
    const everybody = Array.from({ length: people }, (_, n) => ({ email: `reader${n}@${domain}`, name: `Reader ${n}` }))
    for (let first = 0; first < people; first += ADDED_TOGETHER)
      await call(desk, 'POST', `/lists/${list.id}/contacts`, {
        contacts: everybody.slice(first, first + ADDED_TOGETHER),
      })
    const content = { subject: 'For {{ contact.name }}', html: '<p>Hello {{ contact.name }}, this is the news.</p>' }
    const template = await call<{ id: string }>(desk, 'POST', '/templates', { name: `News at ${domain}`, ...content })
    const draft = { name: 'News', list_id: list.id, template_id: template.id, batch_size: batchSize }
    const { id } = await call<{ id: string }>(desk, 'POST', '/campaigns', draft)
    await call(desk, 'POST', `/campaigns/${id}/launch`)
    const { rows } = await desk.context.db.query<{ contactId: string; recipient: string }>(
      `select id as "contactId", address as recipient from postrider.contacts where address like '%@' || $1 order by id`,
      [domain],
    )
    return {
      id,
      laneId: readId('cmp', id)!,
      listId: readId('lst', list.id)!,
      people: rows.map((row, index) => ({ ...row, leaves: leaving(index) })),
    }
  })

const RECORDS = `
  select payload ->> 'recipient' as recipient, id, '<' || id || '@sender.test>' as "messageId", state,
    reason_code as "reasonCode", attempts, rescues, in_doubt as "inDoubt",
    coalesce((select json_agg(json_build_object('outcome', outcome, 'worker', worker) order by at, attempts.id)
      from postrider.attempts where action_id = action.id), '[]') as outcomes
  from postrider.scheduled_actions action where lane_id = $1 and type = 'send'`

/** What the database says in the end. */
export const readOutcome = (
  place: Place,
  { id, laneId }: LaunchedCampaign,
): Promise<{ readonly view: CampaignView; readonly records: readonly EmailRecord[] }> =>
  atTheDesk(place, async (desk) => ({
    view: await call<CampaignView>(desk, 'GET', `/campaigns/${id}/schedule`),
    records: (await desk.context.db.query<EmailRecord>(RECORDS, [laneId])).rows,
  }))

/** Null when nobody answered, because who would have was killed or has no database. */
export async function readView(url: string | null, id: string, agent: Agent): Promise<CampaignView | null> {
  const answer = await ask(url, agent, 'GET', `/api/campaigns/${id}/schedule`)
  return answer?.status === 200 ? (JSON.parse(answer.text) as CampaignView) : null
}

/** False when nobody answered: ask again, which changes nothing if it was heard. */
export async function leave(
  url: string | null,
  { contactId, recipient, leaves }: Person,
  { listId, laneId }: LaunchedCampaign,
  agent: Agent,
): Promise<boolean> {
  const answer = await (leaves === 'removed'
    ? ask(url, agent, 'DELETE', `/api/contacts/${showId('ctc', contactId)}`)
    : leaves === 'suppressed'
      ? ask(url, agent, 'POST', '/api/suppressions', { email: recipient })
      : ask(url, agent, 'POST', `/u/${linkOf(listId, contactId, laneId, recipient)}`))
  if (!answer || answer.status === 503) return false
  // Removed already: the answer to the first time was lost.
  if (answer.status >= 400 && !(answer.status === 404 && leaves === 'removed'))
    throw new Error(`${leaves} ${recipient}: ${answer.status} ${answer.text}`)
  return true
}

const links = createLinkSigner(() => SECRET)
const linkOf = (listId: string, contactId: string, campaignId: string, address: string) =>
  links.sign({ listId, contactId, campaignId, address })

function ask(url: string | null, agent: Agent, method: string, path: string, body?: unknown) {
  if (url === null) return null
  return new Promise<{ readonly status: number; readonly text: string } | null>((resolve) => {
    const headers = {
      Authorization: `Bearer ${API_KEY}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    }
    const asked = request(`${url}${path}`, { method, agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('error', () => resolve(null))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    asked.on('error', () => resolve(null))
    asked.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
