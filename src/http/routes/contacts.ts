import { z } from '@hono/zod-openapi'
import { type Contact, findContact, searchContacts } from '../../db/contacts.js'
import { listMemberships } from '../../db/list-members.js'
import { findSuppressions } from '../../db/suppressions.js'
import { foldAddress } from '../../domain/address.js'
import { PostriderError } from '../../errors.js'
import { showId } from '../../id.js'
import { changeContact, removeContact, saveContact } from '../../operations/contacts.js'
import { contactSchema, shownContactSchema, toContact, toShownContact } from '../contact-json.js'
import { type Call, type Endpoint, keyed } from '../endpoint.js'
import { asSearchedList, pageQuery, readPage, searchedListOf } from '../pagination.js'
import { fields, text } from '../read-input.js'

/** What a contact is given as, here and on a list. */
const contactFields = {
  name: text(1_000).nullable().optional(),
  attributes: z
    .record(text(1_000), z.unknown())
    .optional()
    .openapi({ description: 'What templates may speak of: up to 64, any JSON, 16 KB in all.' }),
  timezone: text(1_000)
    .nullable()
    .optional()
    .openapi({ description: "An IANA name. One that is not known is left out, with a warning: the sender's is used." }),
}
export const newContact = fields({ email: text(4_000), ...contactFields }).openapi('NewContact')
const contactChange = fields({ email: text(4_000).optional(), ...contactFields }).openapi('ContactChange')

const warnings = z.array(z.string()).openapi({ description: 'What was left out of what was given.' })
const savedSchema = contactSchema.extend({ warnings }).openapi('SavedContact')

const common = { tag: 'Contacts', scope: 'manage' } as const

export const contactEndpoints: readonly Endpoint[] = [
  keyed({
    ...common,
    method: 'get',
    path: '/api/contacts',
    scope: 'read',
    summary: 'List contacts',
    query: pageQuery({
      q: text(1_000).optional().openapi({ description: 'Part of an address or a name.' }),
      email: text(4_000).optional().openapi({ description: 'This address.' }),
    }),
    description:
      'Newest first. Part of an address or a name (q) is looked for among the newest, for a moment: a page may then be short, and searched_until is where to go on from (after).',
    answers: 'A page of contacts.',
    answer: searchedListOf(contactSchema),
    async run({ options, caller, query: { q, email, ...query } }) {
      const page = readPage(query, 'ctc')
      const filter = { ...(q !== undefined && { q }), ...(email !== undefined && { address: foldAddress(email) }) }
      const found = await searchContacts(options.context.db, caller.workspaceId, filter, {
        ...page,
        limit: page.limit + 1,
      })
      return asSearchedList(found.contacts.map(toContact), page, { prefix: 'ctc', ...found })
    },
  }),
  keyed({
    ...common,
    method: 'post',
    path: '/api/contacts',
    summary: 'Make a contact, or merge into the one with the address',
    description:
      'New attributes win, others stay; a name and a time zone are overwritten when given. Opt-outs and suppressions stay.',
    body: newContact,
    example: { email: 'ada@example.com', name: 'Ada', attributes: { plan: 'pro' }, timezone: 'Europe/London' },
    status: 201,
    answers: 'It was made.',
    otherwise: { status: 200, answers: 'It was merged.' },
    answer: savedSchema,
    problems: ['contact_invalid'],
    async run(call) {
      const { context } = call.options
      const { contact, created, warnings } = await saveContact(context, call.caller.workspaceId, call.body)
      if (!created) call.setStatus(200)
      return { ...toContact(contact), warnings: [...warnings] }
    },
  }),
  keyed({
    ...common,
    method: 'get',
    path: '/api/contacts/{id}',
    scope: 'read',
    summary: 'One contact, its lists and what keeps it from being mailed',
    answers: 'The contact.',
    answer: shownContactSchema,
    problems: ['contact_not_found'],
    async run(call) {
      const { db } = call.options.context
      const contact = await contactOf(call)
      const lists = await listMemberships(db, call.caller.workspaceId, contact.id)
      const suppressions = await findSuppressions(db, call.caller.workspaceId, contact.foldedAddress)
      return toShownContact(contact, lists, suppressions)
    },
  }),
  keyed({
    ...common,
    method: 'patch',
    path: '/api/contacts/{id}',
    summary: 'Change a contact',
    description:
      'What is left out stays; null takes a name, a time zone or an attribute away. What was ended under an old address is ended under the new one.',
    body: contactChange,
    example: { attributes: { plan: 'free', trial_ends: null } },
    answers: 'The contact.',
    answer: savedSchema,
    problems: ['contact_not_found', 'contact_invalid', 'contact_conflict'],
    async run(call) {
      const { context } = call.options
      const { contact, warnings } = await changeContact(context, call.caller.workspaceId, call.id('ctc'), call.body)
      return { ...toContact(contact), warnings: [...warnings] }
    },
  }),
  keyed({
    ...common,
    method: 'delete',
    path: '/api/contacts/{id}',
    summary: 'Remove a contact',
    description: 'From all lists. What its address opted out of, and its suppressions, stay.',
    answers: 'It is gone.',
    answer: z.strictObject({ object: z.literal('contact'), id: z.string(), deleted: z.literal(true) }),
    problems: ['contact_not_found'],
    async run(call) {
      const id = call.id('ctc')
      await removeContact(call.options.context, call.caller.workspaceId, id)
      return { object: 'contact' as const, id: showId('ctc', id), deleted: true as const }
    },
  }),
]

async function contactOf(call: Call<unknown, unknown>): Promise<Contact> {
  const contact = await findContact(call.options.context.db, call.caller.workspaceId, call.id('ctc'))
  if (!contact) throw new PostriderError('contact_not_found', 'There is no such contact.')
  return contact
}
