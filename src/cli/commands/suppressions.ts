import type { Command } from 'commander'
import { findSuppressions, listSuppressions, type Suppression } from '../../db/suppressions.js'
import { foldAddress, parseMailbox } from '../../domain/address.js'
import { SUPPRESSION_REASONS, SUPPRESSION_SCOPES } from '../../domain/suppression.js'
import { toSuppression } from '../../http/suppression-json.js'
import { suppress, unsuppress } from '../../operations/suppress.js'
import { readChoice, readWhole } from '../choices.js'
import { CommandError, NOT_FOUND, USAGE } from '../command-error.js'
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

export function addSuppressions(program: Command): void {
  const suppressions = program
    .command('suppressions')
    .description('addresses that must not be mailed: list, show, add, remove')
  const add = (usage: string, description: string) =>
    addSettings(addWorkspace(suppressions.command(usage).description(description)), DATABASE_SETTINGS).option(
      '--json',
      'print JSON',
    )
  add('list', 'in the order of addresses')
    .option('--limit <number>', 'how many at the most', '20')
    .option('--after <address>', 'those behind this one')
    .action(list)
  add('show <address>', 'whether it is suppressed, since when, and why').action(show)
  add('add <addresses...>', 'mail these no more: all of them, or none if one is no address')
    .option('--scope <scope>', `what they are not mailed: ${SUPPRESSION_SCOPES.join(' or ')}`, 'all')
    .option('--reason <reason>', SUPPRESSION_REASONS.join(', '), 'manual')
    .option('--detail <text>', 'a word for whoever asks later')
    .action(addAll)
  add('remove <addresses...>', 'allow these again, in every scope').action(remove)
}

async function list(flags: Flags & { limit: string; after?: string }): Promise<void> {
  const limit = readWhole('--limit', flags.limit, 1, 1_000)
  const after = flags.after === undefined ? null : foldAddress(flags.after)
  await withPostrider(configFrom(flags), async ({ context: { db } }) => {
    const workspace = await getWorkspace(db, flags.workspace)
    const found = await listSuppressions(db, workspace.id, { after, limit: limit + 1 })
    const suppressions = found.slice(0, limit)
    const more = found.length > limit
    if (flags.json) return printJson({ object: 'list', has_more: more, data: suppressions.map(toSuppression) })
    if (suppressions.length === 0) return note('Nobody is suppressed.')
    print(formatTable(suppressions, COLUMNS, terminalWidth()))
    if (more) note(`There are more: --after ${oneLine(suppressions.at(-1)!.address)}`)
  })
}

const COLUMNS = [
  { title: 'ADDRESS', cell: ({ address }: Suppression) => address, mayBeCut: true as const },
  { title: 'SCOPE', cell: ({ scope }: Suppression) => scope },
  { title: 'REASON', cell: ({ reason }: Suppression) => reason },
  { title: 'SINCE', cell: ({ createdAt }: Suppression) => createdAt.toISOString() },
  { title: 'DETAIL', cell: ({ detail }: Suppression) => detail ?? '', mayBeCut: true as const },
]

async function show(text: string, flags: Flags): Promise<void> {
  const [address] = readAddresses([text])
  await withPostrider(configFrom(flags), async ({ context: { db } }) => {
    const workspace = await getWorkspace(db, flags.workspace)
    const found = await findSuppressions(db, workspace.id, address!)
    if (found.length === 0) throw new CommandError(NOT_FOUND, `${address} is not suppressed.`)
    if (flags.json) return printJson({ object: 'list', has_more: false, data: found.map(toSuppression) })
    print(formatTable(found, COLUMNS, terminalWidth()))
  })
}

interface AddFlags extends Flags {
  readonly scope: string
  readonly reason: string
  readonly detail?: string
}

async function addAll(texts: readonly string[], flags: AddFlags): Promise<void> {
  const addresses = readAddresses(texts)
  const scope = readChoice('--scope', flags.scope, SUPPRESSION_SCOPES)
  const reason = readChoice('--reason', flags.reason, SUPPRESSION_REASONS)
  await withPostrider(configFrom(flags), async ({ context }) => {
    const workspace = await getWorkspace(context.db, flags.workspace)
    const added = await suppress(context, workspace.id, addresses, { scope, reason, detail: flags.detail ?? null })
    if (flags.json) return printJson({ added })
    const before = addresses.length - added
    print(`Suppressed ${added} for ${scope}.${before > 0 ? ` ${before} were already.` : ''}`)
  })
}

async function remove(texts: readonly string[], flags: Flags): Promise<void> {
  const addresses = readAddresses(texts)
  await withPostrider(configFrom(flags), async ({ context }) => {
    const workspace = await getWorkspace(context.db, flags.workspace)
    const removed = await unsuppress(context, workspace.id, addresses)
    if (removed === 0) throw new CommandError(NOT_FOUND, 'None of these is suppressed. Nothing was changed.')
    if (flags.json) return printJson({ removed })
    print(`Allowed ${removed} again. Who has opted out of a list stays so.`)
  })
}

/** Each once, in the spelling they are looked up by. */
function readAddresses(texts: readonly string[]): string[] {
  const folded = texts.map((text) => {
    const mailbox = parseMailbox(text)
    if (mailbox) return foldAddress(mailbox.address)
    throw new CommandError(USAGE, `${JSON.stringify(text)} is not one address, such as ada@example.com.`)
  })
  return [...new Set(folded)]
}
