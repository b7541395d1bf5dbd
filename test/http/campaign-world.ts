import { expect } from 'vitest'
import type { Api } from './api-fixture.js'

export interface Shown {
  readonly id: string
}

/** What a test of campaigns needs of a workspace, by HTTP as anybody would. */
export function openCampaignWorld(api: Api) {
  let made = 0
  const post = async (path: string, json: object = {}) => {
    const { status, body } = await api.call(`POST /api/${path}`, { json })
    expect([path, status < 400 ? 'ok' : body]).toEqual([path, 'ok'])
    return body
  }
  const world = {
    post,
    get: async (path: string) => (await api.call(`GET /api/${path}`)).body,
    list: async (...people: string[]): Promise<string> => {
      const { id } = await post('lists', { name: `List ${++made}` })
      const contacts = people.map((name) => ({ email: `${name}@example.com`, name }))
      if (contacts.length > 0) await post(`lists/${id}/contacts`, { contacts })
      return id as string
    },
    template: async (content: object = {}): Promise<string> =>
      (
        await post('templates', {
          name: `Template ${++made}`,
          subject: 'Hi {{ contact.name }}',
          text: 'Hello',
          ...content,
        })
      ).id as string,
    draft: async (people: string[] | string = ['ada', 'bob', 'cyd'], more: object = {}) => {
      const list_id = typeof people === 'string' ? people : await world.list(...people)
      const template_id = 'template_id' in more ? undefined : await world.template()
      return (await post('campaigns', { name: 'News', list_id, template_id, ...more })) as { id: string } & Record<
        string,
        unknown
      >
    },
    progress: (id: string) => world.get(`campaigns/${id}/schedule`),
    emails: async (id: string, query = '') => (await world.get(`emails?campaign_id=${id}${query}`)).data as Shown[],
    received: () => api.server.taken.map(({ rcpt }) => /<(.*)>/.exec(rcpt)![1]!).toSorted(),
    async sender(json: object = {}): Promise<string> {
      return (await post('senders', { address: `s${++made}@sender.test`, ...json })).id as string
    },
    /** Asks and expects it to be refused. */
    refused: async (route: string, json?: object) => {
      const { status, body } = await api.call(route, { ...(json && { json }) })
      expect([route, status >= 400]).toEqual([route, true])
      return body
    },
  }
  return world
}
