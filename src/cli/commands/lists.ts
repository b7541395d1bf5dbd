import { once } from 'node:events'
import type { Command } from 'commander'
import type { Sql } from '../../db/client.js'
import { countMembers, type List, listLists, type MemberCounts } from '../../db/lists.js'
import { toContactList } from '../../http/contact-json.js'
import { showId } from '../../id.js'
import { exportList } from '../../operations/export-list.js'
import { createList, removeList } from '../../operations/lists.js'
import { getList } from '../audience.js'
import { confirm } from '../confirm.js'
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

export function addLists(program: Command): void {
  const lists = program.command('lists').description('named sets of contacts: list, create, show, remove, export')
  const add = (usage: string, description: string) =>
    addSettings(addWorkspace(lists.command(usage).description(description)), DATABASE_SETTINGS)
  const json = (command: Command) => command.option('--json', 'print JSON')
  json(add('list', 'all of them, newest first')).action(list)
  json(add('create <name>', 'make one')).option('--description <text>', 'what it is for').action(create)
  json(add('show <id-or-name>', 'one list, and how many are on it')).action(show)
  json(add('remove <id-or-name>', 'with who is on it and who opted out of it; the contacts stay'))
    .option('--yes', 'do not ask')
    .action(remove)
  add('export <id-or-name>', 'everybody on it as CSV').action(exportAll)
}

/** More than anybody reads. */
const MOST_LISTS = 1_000

async function list(flags: Flags): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context: { db } }) => {
    const workspace = await getWorkspace(db, flags.workspace)
    const found = await listLists(db, workspace.id, { limit: MOST_LISTS + 1 })
    const lists: Counted[] = []
    for (const each of found.slice(0, MOST_LISTS)) lists.push(await count(db, each))
    const more = found.length > MOST_LISTS
    if (flags.json)
      return printJson({ object: 'list', has_more: more, data: lists.map((each) => toContactList(each, each)) })
    if (lists.length === 0) return note('No lists. "postrider lists create" makes one.')
    print(formatTable(lists, COLUMNS, terminalWidth()))
  })
}

type Counted = List & MemberCounts
const count = async (db: Sql, list: List): Promise<Counted> => ({ ...list, ...(await countMembers(db, list.id)) })

const COLUMNS = [
  { title: 'ID', cell: ({ id }: Counted) => showId('lst', id) },
  { title: 'MEMBERS', cell: ({ members }: Counted) => String(members) },
  { title: 'SUBSCRIBED', cell: ({ subscribed }: Counted) => String(subscribed) },
  { title: 'NAME', cell: ({ name }: Counted) => name, mayBeCut: true as const },
]

async function create(name: string, flags: Flags & { description?: string }): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context }) => {
    const workspace = await getWorkspace(context.db, flags.workspace)
    const made = await createList(context, workspace.id, { name, description: flags.description })
    if (flags.json) printJson(toContactList(made, { members: 0, subscribed: 0 }))
    else print(`${showId('lst', made.id)} ${oneLine(made.name)}`)
  })
}

async function show(text: string, flags: Flags): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context: { db } }) => {
    const workspace = await getWorkspace(db, flags.workspace)
    const list = await count(db, await getList(db, workspace.id, text))
    if (flags.json) return printJson(toContactList(list, list))
    const { id, name, description, members, subscribed } = list
    print(
      [
        `${showId('lst', id)} ${oneLine(name)}`,
        ...(description === null ? [] : [`  ${oneLine(description)}`]),
        `  ${members} on it, ${subscribed} subscribed`,
      ].join('\n'),
    )
  })
}

async function remove(text: string, flags: Flags & { yes?: true }): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context }) => {
    const workspace = await getWorkspace(context.db, flags.workspace)
    const { id, name, members, subscribed } = await count(context.db, await getList(context.db, workspace.id, text))
    const lost = members - subscribed
    const question = `Remove the list ${JSON.stringify(name)} with ${members} members, and forget that ${lost} of them opted out of it?`
    await confirm(question, flags.yes)
    await removeList(context, workspace.id, id)
    if (flags.json) printJson({ object: 'contact_list', id: showId('lst', id), deleted: true })
    else print(`Removed ${showId('lst', id)} (${oneLine(name)}). The contacts stay.`)
  })
}

async function exportAll(text: string, flags: Flags): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context }) => {
    const workspace = await getWorkspace(context.db, flags.workspace)
    const { id } = await getList(context.db, workspace.id, text)
    for await (const rows of exportList(context, id)) {
      // Whoever reads it may have seen enough.
      if (process.stdout.destroyed) return
      // As fast as it is read: a million rows in a full pipe would all be held here.
      if (!process.stdout.write(rows))
        await Promise.race([once(process.stdout, 'drain'), once(process.stdout, 'close')]).catch(() => undefined)
    }
  })
}
