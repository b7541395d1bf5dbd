import { z } from '@hono/zod-openapi'
import type { Contact } from '../db/contacts.js'
import type { Import } from '../db/imports.js'
import type { Member, Membership } from '../db/list-members.js'
import type { List, MemberCounts } from '../db/lists.js'
import type { Suppression } from '../db/suppressions.js'
import { IMPORT_STATUSES } from '../domain/import.js'
import { SUPPRESSION_REASONS, SUPPRESSION_SCOPES } from '../domain/suppression.js'
import { showId } from '../id.js'

/** Contacts, lists and imports as clients and `--json` see them. */
const contactShape = {
  object: z.literal('contact'),
  id: z.string(),
  email: z.string(),
  name: z.string().nullable(),
  attributes: z.record(z.string(), z.unknown()),
  timezone: z.string().nullable().openapi({ description: "Null: the sender's." }),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
}
export const contactSchema = z.strictObject(contactShape).openapi('Contact')

export const shownContactSchema = contactSchema
  .extend({
    lists: z.array(
      z.strictObject({ id: z.string(), name: z.string(), subscribed: z.boolean(), joined_at: z.iso.datetime() }),
    ),
    suppressions: z.array(
      z.strictObject({
        scope: z.enum(SUPPRESSION_SCOPES),
        reason: z.enum(SUPPRESSION_REASONS),
        detail: z.string().nullable(),
        created_at: z.iso.datetime(),
      }),
    ),
  })
  .openapi('ShownContact')

export const memberSchema = z
  .strictObject({ ...contactShape, subscribed: z.boolean(), joined_at: z.iso.datetime() })
  .openapi('Member')

export const listSchema = z
  .strictObject({
    object: z.literal('contact_list'),
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    members: z.int(),
    subscribed: z.int().openapi({ description: 'Members that have not opted out of the list.' }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi('ContactList')

export const importSchema = z
  .strictObject({
    object: z.literal('import'),
    id: z.string(),
    list_id: z.string(),
    status: z.enum(IMPORT_STATUSES),
    rows_read: z.int(),
    created: z.int(),
    updated: z.int(),
    joined: z.int().openapi({ description: 'How many were not on the list before.' }),
    repeated: z.int().openapi({ description: 'Rows that named an address an earlier row had named.' }),
    opted_out: z.int().openapi({ description: 'Addresses that opted out or are suppressed. They stay so.' }),
    refused: z.int().openapi({ description: 'Rows that could not be used.' }),
    problems: z
      .array(z.strictObject({ line: z.int(), detail: z.string() }))
      .openapi({ description: 'The first thousand, by the line of the file: why rows were refused, and warnings.' }),
    failure: z.string().nullable().openapi({ description: 'Why it ended early, if it did.' }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi('Import')

export const toContact = (contact: Contact): z.input<typeof contactSchema> => ({
  object: 'contact',
  id: showId('ctc', contact.id),
  email: contact.address,
  name: contact.name,
  attributes: { ...contact.attributes },
  timezone: contact.timezone,
  created_at: contact.createdAt.toISOString(),
  updated_at: contact.updatedAt.toISOString(),
})

export const toShownContact = (
  contact: Contact,
  lists: readonly Membership[],
  suppressions: readonly Suppression[],
): z.input<typeof shownContactSchema> => ({
  ...toContact(contact),
  lists: lists.map(({ listId, name, subscribed, joinedAt }) => ({
    id: showId('lst', listId),
    name,
    subscribed,
    joined_at: joinedAt.toISOString(),
  })),
  suppressions: suppressions.map(({ scope, reason, detail, createdAt }) => ({
    scope,
    reason,
    detail,
    created_at: createdAt.toISOString(),
  })),
})

export const toMember = (member: Member): z.input<typeof memberSchema> => ({
  ...toContact(member),
  subscribed: member.subscribed,
  joined_at: member.joinedAt.toISOString(),
})

export const toContactList = (list: List, { members, subscribed }: MemberCounts): z.input<typeof listSchema> => ({
  object: 'contact_list',
  id: showId('lst', list.id),
  name: list.name,
  description: list.description,
  members,
  subscribed,
  created_at: list.createdAt.toISOString(),
  updated_at: list.updatedAt.toISOString(),
})

export const toImport = (each: Import): z.input<typeof importSchema> => ({
  object: 'import',
  id: showId('imp', each.id),
  list_id: showId('lst', each.listId),
  status: each.status,
  rows_read: each.rowsRead,
  created: each.created,
  updated: each.updated,
  joined: each.joined,
  repeated: each.repeated,
  opted_out: each.optedOut,
  refused: each.refused,
  problems: [...each.problems],
  failure: each.failure,
  created_at: each.createdAt.toISOString(),
  updated_at: each.updatedAt.toISOString(),
})
