import type { Postrider, PostriderOptions } from '../../src/index.js'
import { openPostrider, type Place } from '../delivery/open-postrider.js'

/** A Postrider with lists as long as asked for, and campaigns to them as an API client makes them. */
export const API_KEY = 'pk_a_key_of_the_campaign_benchmark'
const SECRET = 'a secret of the campaign benchmark'

export const openForCampaigns = (place: Place, options: PostriderOptions = {}): Promise<Postrider> =>
  openPostrider(place, { apiKey: API_KEY, secret: SECRET, rateLimit: 1_000_000, ...options })

export const call = async <T>(postrider: Postrider, method: string, path: string, body?: unknown): Promise<T> =>
  JSON.parse(await ask(postrider, method, path, body)) as T

/** The answer as it comes. */
export async function ask(postrider: Postrider, method: string, path: string, body?: unknown): Promise<string> {
  const headers = { Authorization: `Bearer ${API_KEY}`, 'Content-Type': 'application/json' }
  const asked = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await postrider.fetch(new Request(`http://bench/api${path}`, asked))
  const answer = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer}`)
  return answer
}

/** Ids as they are made one after the other, which is how an import makes them. */
const ID = `('019a0000-' || lpad(to_hex($2::int), 4, '0') || '-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid`

/** A list with so many people on it; `nth` tells it from others of this database. */
export async function fillList(postrider: Postrider, contacts: number, nth = 0): Promise<string> {
  const { db } = postrider.context
  const list = await call<{ id: string }>(postrider, 'POST', '/lists', { name: `Readers ${nth}` })
  await db.query(
    `with people as (
       insert into postrider.contacts (id, workspace_id, address, folded_address, name, attributes)
       select ${ID}, lists.workspace_id, address, address, 'Reader ' || i, '{"city": "Bern"}'
       from generate_series(1, $3::int) i, lateral (select 'reader' || i || '@list' || $2::int || '.example.com' as address) named,
         postrider.lists where lists.id = $1
       returning id)
     insert into postrider.list_members (list_id, contact_id) select $1, id from people`,
    [toUuid(list.id), nth, contacts],
  )
  await db.query('analyze postrider.contacts')
  await db.query('analyze postrider.list_members')
  return list.id
}

const HTML = `<h1>News for {{ contact.name }}</h1><p>Hello {{ contact.name }} in {{ contact.city }}, this is what happened.</p>
<p>There is a shop where you live, and it is open today. <a href="https://shop.example.com/">See what it has</a>.</p>`

export interface Draft {
  /** As the API shows it, and as the database has it. */
  readonly id: string
  readonly laneId: string
}

export async function draftCampaign(postrider: Postrider, listId: string, batchSize: number): Promise<Draft> {
  const name = `News to ${listId} by ${batchSize}`
  const subject = 'News for {{ contact.name }}'
  const template = await call<{ id: string }>(postrider, 'POST', '/templates', { name, subject, html: HTML })
  const about = { name, list_id: listId, template_id: template.id, batch_size: batchSize }
  const { id } = await call<{ id: string }>(postrider, 'POST', '/campaigns', about)
  return { id, laneId: toUuid(id) }
}

export const launchCampaign = (postrider: Postrider, { id }: Draft) =>
  call<{ scheduled: number }>(postrider, 'POST', `/campaigns/${id}/launch`)

const toUuid = (shown: string) => shown.replace(/^[a-z]+_(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
