import { z } from '@hono/zod-openapi'
import { countMembers, findList, type List, listLists } from '../../db/lists.js'
import type { Context } from '../../operations/context.js'
import { PostriderError } from '../../errors.js'
import { showId } from '../../id.js'
import { changeList, createList, removeList } from '../../operations/lists.js'
import { listSchema, toContactList } from '../contact-json.js'
import { type Call, type Endpoint, keyed } from '../endpoint.js'
import { asList, listOf, pageQuery, readPage } from '../pagination.js'
import { fields, text } from '../read-input.js'

const description = text(10_000).nullable().optional()
const newList = fields({ name: text(1_000), description }).openapi('NewContactList')
const listChange = fields({ name: text(1_000).optional(), description }).openapi('ContactListChange')

const common = { tag: 'Lists', scope: 'manage', answers: 'The list.', answer: listSchema } as const

export const listEndpoints: readonly Endpoint[] = [
  keyed({
    ...common,
    method: 'get',
    path: '/api/lists',
    scope: 'read',
    summary: 'List lists',
    query: pageQuery({}),
    answers: 'A page of lists, newest first.',
    answer: listOf(listSchema),
    async run({ options: { context }, caller, query }) {
      const page = readPage(query, 'lst')
      const found = await listLists(context.db, caller.workspaceId, { ...page, limit: page.limit + 1 })
      const { data, ...rest } = asList(found, page)
      return { ...rest, data: await Promise.all(data.map((list) => show(context, list))) }
    },
  }),
  keyed({
    ...common,
    method: 'post',
    path: '/api/lists',
    summary: 'Make a list',
    body: newList,
    example: { name: 'Newsletter' },
    status: 201,
    problems: ['list_invalid', 'list_conflict'],
    run: async ({ options: { context }, caller, body }) =>
      toContactList(await createList(context, caller.workspaceId, body), { members: 0, subscribed: 0 }),
  }),
  keyed({
    ...common,
    method: 'get',
    path: '/api/lists/{id}',
    scope: 'read',
    summary: 'One list',
    problems: ['list_not_found'],
    run: async (call) => show(call.options.context, await listOfCall(call)),
  }),
  keyed({
    ...common,
    method: 'patch',
    path: '/api/lists/{id}',
    summary: 'Change a list',
    body: listChange,
    example: { description: 'Once a month' },
    problems: ['list_not_found', 'list_invalid', 'list_conflict'],
    async run(call) {
      const { context } = call.options
      return show(context, await changeList(context, call.caller.workspaceId, call.id('lst'), call.body))
    },
  }),
  keyed({
    ...common,
    method: 'delete',
    path: '/api/lists/{id}',
    summary: 'Remove a list',
    description: 'With who is on it and who opted out of it; the contacts stay. Not while a campaign goes to it.',
    answers: 'It is gone.',
    answer: z.strictObject({ object: z.literal('contact_list'), id: z.string(), deleted: z.literal(true) }),
    problems: ['list_not_found', 'list_conflict'],
    async run(call) {
      const id = call.id('lst')
      await removeList(call.options.context, call.caller.workspaceId, id)
      return { object: 'contact_list' as const, id: showId('lst', id), deleted: true as const }
    },
  }),
]

const show = async ({ db }: Context, list: List) => toContactList(list, await countMembers(db, list.id))

/** The list in the path. */
export async function listOfCall(call: Call<unknown, unknown>): Promise<List> {
  const list = await findList(call.options.context.db, call.caller.workspaceId, call.id('lst'))
  if (!list) throw new PostriderError('list_not_found', 'There is no such list.')
  return list
}
