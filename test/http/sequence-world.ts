import { expect } from 'vitest'
import { insertSequence } from '../../src/db/sequences.js'
import type { SequenceGraph, SequenceNode } from '../../src/domain/sequence.js'
import { DEFAULT_WORKSPACE, newId, readId, showId } from '../../src/id.js'
import type { Api } from './api-fixture.js'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** A mail in the dev inbox, as far as these tests look at it. */
export interface Received {
  readonly recipient: string
  readonly subject: string
  readonly messageId: string
  readonly from: string
  /** Null for a header it does not have. */
  header(name: string): string | null
  readonly raw: string
}

// oxlint-disable-next-line typescript/no-explicit-any -- what an answer holds is what the tests are about
type Body = any

/** Sequences, lists and campaigns of a workspace whose mails stay in the dev inbox. */
export function openSequences(api: Api) {
  let made = 0
  const post = async (path: string, json: object = {}): Promise<Body> => {
    const { status, body } = await api.call(`POST /api/${path}`, { json })
    expect([path, status < 400 ? 'ok' : body]).toEqual([path, 'ok'])
    return body
  }
  const get = async (path: string): Promise<Body> => (await api.call(`GET /api/${path}`)).body
  const refused = async (route: string, json?: object): Promise<Body> => {
    const { status, body } = await api.call(route, { ...(json && { json }) })
    expect([route, status >= 400 ? 'refused' : body]).toEqual([route, 'refused'])
    return body
  }
  const isSomethingDue = async () => {
    const { db } = api.mail.context
    const { rows } = await db.query<{ due: boolean }>(
      `select exists (select 1 from postrider.scheduled_actions
         where state = 'pending' and run_at < ${db.now} + interval '2 minutes') as due`,
    )
    return rows[0]!.due
  }
  const world = {
    post,
    get,
    refused,
    async template(subject: string): Promise<string> {
      const template = { name: `Template ${++made}`, subject, text: 'Hello {{ contact.name }}' }
      return (await post('templates', template)).id as string
    },
    /** A list of these people, or more people for one. */
    async list(people: readonly string[], id?: string): Promise<string> {
      const list = id ?? ((await post('lists', { name: `List ${++made}` })).id as string)
      const contacts = people.map((name) => ({ email: `${name}@example.com`, name, attributes: { plan: name } }))
      if (contacts.length > 0) await post(`lists/${list}/contacts`, { contacts })
      return list
    },
    contact: async (name: string): Promise<string> =>
      (await get(`contacts?email=${name}@example.com`)).data[0].id as string,
    async sequence(...nodes: SequenceNode[]): Promise<string> {
      const id = newId()
      const graph: SequenceGraph = { start: nodes[0]!.id, nodes }
      await insertSequence(api.mail.context.db, DEFAULT_WORKSPACE, id, `Sequence ${++made}`, graph)
      return showId('seq', id)
    },
    async send(
      id: string,
      next: string | null,
      more: Partial<SequenceNode & { delayMs: number; reply: boolean }> = {},
    ) {
      const templateId = readId('tpl', await world.template(`${id} for {{ contact.name }}`))!
      return { id, type: 'send', templateId, subject: null, delayMs: 0, reply: false, next, ...more } as SequenceNode
    },
    /** Three emails of one thread, two and then three days apart. */
    thread: async () =>
      world.sequence(
        await world.send('intro', 'follow-up'),
        await world.send('follow-up', 'last', { delayMs: 2 * DAY, reply: true }),
        await world.send('last', null, { delayMs: 3 * DAY, reply: true }),
      ),
    async sender(json: object = {}): Promise<string> {
      const sender = { address: `s${++made}@sender.test`, provider: 'capture', ...json }
      return (await post('senders', sender)).id as string
    },
    async draft(sequence_id: string, people: readonly string[] | string, more: object = {}): Promise<Body> {
      const list_id = typeof people === 'string' ? people : await world.list(people)
      const sender = 'sender_ids' in more ? {} : { sender_id: await world.sender() }
      return post('campaigns', { name: 'Outreach', list_id, sequence_id, ...sender, ...more })
    },
    async launched(sequence: string, people: readonly string[] | string, more: object = {}): Promise<Body> {
      const { id } = await world.draft(sequence, people, more)
      return post(`campaigns/${id}/launch`)
    },
    /** The enrollment of the contact with this name. */
    async walk(name: string): Promise<Body> {
      const found = (await get(`enrollments?contact_id=${await world.contact(name)}`)).data as { id: string }[]
      expect(found).toHaveLength(1)
      return get(`enrollments/${found[0]!.id}`)
    },
    /** Lets so much time pass, and then everything happen that is due: a sender's mails keep a gap, one after the other. */
    async go(ms: number): Promise<void> {
      await api.shiftClock(ms)
      await api.drain()
      for (let round = 0; round < 8 && (await isSomethingDue()); round++) {
        await api.shiftClock(2 * MINUTE)
        await api.drain()
      }
    },
    /** Oldest first. */
    async inbox(): Promise<Received[]> {
      const found = (await get('inbox?limit=100')).data as { id: string; recipient: string; subject: string }[]
      const mails = found.toReversed().map(async ({ id, recipient, subject }) => {
        const raw = (await api.call(`GET /api/inbox/${id}/raw`)).body as string
        const unfolded = raw.replaceAll(/\r?\n[ \t]+/g, ' ')
        const header = (name: string) => new RegExp(`^${name}: (.*?)\\r?$`, 'im').exec(unfolded)?.[1] ?? null
        return { recipient, subject, raw, header, messageId: header('Message-ID')!, from: header('From')! }
      })
      return Promise.all(mails)
    },
    subjects: async () => (await world.inbox()).map(({ subject }) => subject).toSorted(),
    event: (json: object) => api.call('POST /api/events/send', { json }),
    progress: (id: string) => get(`campaigns/${id}/schedule`),
  }
  return world
}
