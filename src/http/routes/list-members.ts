import { z } from '@hono/zod-openapi'
import { listMembers } from '../../db/list-members.js'
import { showId } from '../../id.js'
import { addToList } from '../../operations/contacts.js'
import { removeFromList, setSubscription } from '../../operations/lists.js'
import { memberSchema, toMember } from '../contact-json.js'
import { type Endpoint, keyed } from '../endpoint.js'
import { asList, listOf, pageQuery, readPage } from '../pagination.js'
import { fields } from '../read-input.js'
import { newContact } from './contacts.js'
import { listOfCall } from './lists.js'

/** Who is on a list, and whether they still want its mail. */
const BULK_LIMIT = 1_000

const addedSchema = z
  .strictObject({
    created: z.int(),
    updated: z.int(),
    joined: z.int().openapi({ description: 'How many were not on the list before.' }),
    opted_out: z.int().openapi({ description: 'Addresses that opted out or are suppressed. They stay so.' }),
    warnings: z.array(z.strictObject({ index: z.int(), email: z.string(), detail: z.string() })),
  })
  .openapi('AddedContacts')

const common = { tag: 'Lists', scope: 'manage' } as const

export const listMemberEndpoints: readonly Endpoint[] = [
  keyed({
    ...common,
    method: 'get',
    path: '/api/lists/{id}/contacts',
    scope: 'read',
    summary: 'Who is on a list',
    query: pageQuery({
      subscribed: z.enum(['true', 'false']).optional().openapi({ description: 'Only those who are, or are not.' }),
    }),
    answers: 'A page of contacts, newest first.',
    answer: listOf(memberSchema),
    problems: ['list_not_found'],
    async run(call) {
      const { subscribed, ...query } = call.query
      const page = readPage(query, 'ctc')
      const list = await listOfCall(call)
      const filter = subscribed === undefined ? {} : { subscribed: subscribed === 'true' }
      const more = { ...page, limit: page.limit + 1 }
      const found = await listMembers(call.options.context.db, list.id, filter, more)
      return asList(found.map(toMember), page)
    },
  }),
  keyed({
    ...common,
    method: 'post',
    path: '/api/lists/{id}/contacts',
    summary: `Put up to ${BULK_LIMIT} contacts on a list`,
    description:
      'All or none. Made, or merged into those with the address, as by POST /api/contacts. Nobody who opted out is revived.',
    body: fields({
      contacts: z
        .array(newContact)
        .min(1, 'needs at least one contact')
        .max(BULK_LIMIT, `at most ${BULK_LIMIT} contacts`),
    }),
    example: { contacts: [{ email: 'ada@example.com', name: 'Ada' }, { email: 'grace@example.com' }] },
    answers: 'What came of it.',
    answer: addedSchema,
    problems: ['list_not_found', 'contact_invalid'],
    async run(call) {
      const { context } = call.options
      const added = await addToList(context, call.caller.workspaceId, call.id('lst'), call.body.contacts)
      const { created, updated, joined, optedOut, warnings } = added
      return { created, updated, joined, opted_out: optedOut, warnings: [...warnings] }
    },
  }),
  keyed({
    ...common,
    method: 'patch',
    path: '/api/lists/{id}/contacts/{contact_id}',
    summary: 'End or renew a subscription',
    description:
      'The only call that renews one. It is the address that opts out, and stays so if the contact is removed.',
    body: fields({ subscribed: z.boolean() }),
    example: { subscribed: false },
    answers: 'The contact on the list.',
    answer: memberSchema,
    problems: ['list_not_found', 'contact_not_found'],
    async run(call) {
      const [list, contact] = [call.id('lst'), call.id('ctc', 'contact_id')]
      const { context } = call.options
      return toMember(await setSubscription(context, call.caller.workspaceId, list, contact, call.body.subscribed))
    },
  }),
  keyed({
    ...common,
    method: 'delete',
    path: '/api/lists/{id}/contacts/{contact_id}',
    summary: 'Take a contact off a list',
    description: 'An opt-out stays.',
    answers: 'It is not on the list any more.',
    answer: z.strictObject({ object: z.literal('contact'), id: z.string(), deleted: z.literal(true) }),
    problems: ['list_not_found', 'contact_not_found'],
    async run(call) {
      const [list, contact] = [call.id('lst'), call.id('ctc', 'contact_id')]
      await removeFromList(call.options.context, call.caller.workspaceId, list, contact)
      return { object: 'contact' as const, id: showId('ctc', contact), deleted: true as const }
    },
  }),
]
