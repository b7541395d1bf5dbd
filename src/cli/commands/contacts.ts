import type { Command } from 'commander'
import { type Contact, searchContacts } from '../../db/contacts.js'
import { listMemberships } from '../../db/list-members.js'
import { findSuppressions } from '../../db/suppressions.js'
import { foldAddress } from '../../domain/address.js'
import { toContact, toShownContact } from '../../http/contact-json.js'
import { showId } from '../../id.js'
import { removeContact } from '../../operations/contacts.js'
import { getContact } from '../audience.js'
import { readWhole } from '../choices.js'
import { withPostrider } from '../open-postrider.js'
import { note, print, printJson } from '../print.js'
import { oneLine } from '../safe-text.js'
import { addSettings, configFrom, DATABASE_SETTINGS } from '../settings.js'
import { formatTable, terminalWidth } from '../table.js'
import { addWorkspace, getWorkspace } from '../workspace.js'

interface Flags extends Record<string, unknown> {
  readonly workspace: string
  readonly json?: true
}

interface ListFlags extends Flags {
  readonly q?: string
  readonly email?: string
  readonly limit: string
  readonly after?: string
}

export function addContacts(program: Command): void {
  const contacts = program.command('contacts').description('people who can be mailed: list, show, remove')
  const add = (usage: string, description: string) =>
    addSettings(addWorkspace(contacts.command(usage).description(description)), DATABASE_SETTINGS).option(
      '--json',
      'print JSON',
    )
  add('list', 'newest first')
    .option('--q <text>', 'those with this in the address or the name')
    .option('--email <address>', 'the one with this address')
    .option('--limit <number>', 'how many at the most', '20')
    .option('--after <id>', 'those older than this one')
    .action(list)
  add('show <id-or-address>', 'one contact: its lists, and what keeps it from being mailed').action(show)
  add('remove <id-or-address>', 'take it off all lists; what it opted out of stays').action(remove)
}

async function list({ q, email, ...flags }: ListFlags): Promise<void> {
  const limit = readWhole('--limit', flags.limit, 1, 1_000)
  const filter = { ...(q !== undefined && { q }), ...(email !== undefined && { address: foldAddress(email) }) }
  await withPostrider(configFrom(flags), async ({ context: { db } }) => {
    const workspace = await getWorkspace(db, flags.workspace)
    const after = flags.after === undefined ? {} : { after: (await getContact(db, workspace.id, flags.after)).id }
    // One more than asked for tells whether there are more.
    // And all of them are looked at: whoever waits at a terminal can stop waiting.
    const { contacts: found } = await searchContacts(
      db,
      workspace.id,
      filter,
      { limit: limit + 1, ...after },
      { patienceMs: Number.POSITIVE_INFINITY },
    )
    const contacts = found.slice(0, limit)
    const more = found.length > limit
    if (flags.json) return printJson({ object: 'list', has_more: more, data: contacts.map(toContact) })
    if (contacts.length === 0) return note('No contacts. "postrider import" brings some.')
    print(formatTable(contacts, COLUMNS, terminalWidth()))
    if (more) note(`There are more: --after ${showId('ctc', contacts.at(-1)!.id)}`)
  })
}

const COLUMNS = [
  { title: 'ID', cell: ({ id }: Contact) => showId('ctc', id) },
  { title: 'EMAIL', cell: ({ address }: Contact) => address, mayBeCut: true as const },
  { title: 'NAME', cell: ({ name }: Contact) => name ?? '', mayBeCut: true as const },
]

async function show(text: string, flags: Flags): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context: { db } }) => {
    const workspace = await getWorkspace(db, flags.workspace)
    const contact = await getContact(db, workspace.id, text)
    const lists = await listMemberships(db, workspace.id, contact.id)
    const suppressions = await findSuppressions(db, workspace.id, contact.foldedAddress)
    if (flags.json) return printJson(toShownContact(contact, lists, suppressions))
    const facts = {
      email: contact.address,
      name: contact.name ?? '',
      timezone: contact.timezone ?? '',
      ...Object.fromEntries(
        Object.entries(contact.attributes).map(([name, value]) => [
          `.${name}`,
          typeof value === 'string' ? value : JSON.stringify(value),
        ]),
      ),
    }
    const lines = Object.entries(facts)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `  ${oneLine(name).padEnd(10)}  ${oneLine(value)}`)
    const on = lists.map(({ name, subscribed }) => `On ${oneLine(name)}${subscribed ? '' : ', opted out'}.`)
    const kept = suppressions.map(({ scope, reason }) => `Suppressed for ${scope} (${reason}).`)
    print([showId('ctc', contact.id), ...lines, '', ...on, ...kept].join('\n'))
  })
}

async function remove(text: string, flags: Flags): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context }) => {
    const workspace = await getWorkspace(context.db, flags.workspace)
    const contact = await getContact(context.db, workspace.id, text)
    await removeContact(context, workspace.id, contact.id)
    if (flags.json) printJson({ object: 'contact', id: showId('ctc', contact.id), deleted: true })
    else print(`Removed ${showId('ctc', contact.id)} (${oneLine(contact.address)}). What it opted out of stays.`)
  })
}
