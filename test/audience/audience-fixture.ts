import { findListByName } from '../../src/db/lists.js'
import { DEFAULT_WORKSPACE, showId } from '../../src/id.js'
import type { Answer, Api } from '../http/api-fixture.js'

/** A list and what is done to it, by the API. */
export interface Audience {
  readonly list: string
  add(...contacts: object[]): Promise<Answer>
  importCsv(file: string | Buffer, query?: string): Promise<Answer>
  /** Who is on it: `ada@example.com` or `(ada@example.com)` for one that opted out. */
  members(): Promise<string[]>
  /** The id of the contact with an address. */
  idOf(email: string): Promise<string>
  subscribe(email: string, subscribed: boolean): Promise<Answer>
  counts(): Promise<[members: number, subscribed: number]>
}

export async function makeAudience(api: Api, name = 'Newsletter'): Promise<Audience> {
  await api.call('POST /api/lists', { json: { name } })
  const list = showId('lst', (await findListByName(api.mail.context.db, DEFAULT_WORKSPACE, name))!.id)
  const audience: Audience = {
    list,
    add: (...contacts) => api.call(`POST /api/lists/${list}/contacts`, { json: { contacts } }),
    importCsv: (file, query = '') =>
      api.call(`POST /api/lists/${list}/import${query}`, {
        body: file as string,
        headers: { 'content-type': 'text/csv' },
      }),
    async members() {
      const { body } = await api.call(`GET /api/lists/${list}/contacts?limit=100`)
      return body.data
        .map(({ email, subscribed }: { email: string; subscribed: boolean }) =>
          (subscribed ? email : `(${email})`).toLowerCase(),
        )
        .toSorted()
    },
    async idOf(email) {
      return (await api.call(`GET /api/contacts?email=${encodeURIComponent(email)}`)).body.data[0].id
    },
    subscribe: async (email, subscribed) =>
      api.call(`PATCH /api/lists/${list}/contacts/${await audience.idOf(email)}`, { json: { subscribed } }),
    async counts() {
      const { members, subscribed } = (await api.call(`GET /api/lists/${list}`)).body
      return [members, subscribed]
    },
  }
  return audience
}
