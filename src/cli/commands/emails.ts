import type { Command } from 'commander'
import { readEmail, readEmails } from '../../operations/read-emails.js'
import { readWhole } from '../choices.js'
import { addFilter, type FilterFlags, readFilter } from '../email-filter.js'
import { noSuchEmail, readEmailId } from '../email-id.js'
import { withPostrider } from '../open-postrider.js'
import { printEmail } from '../print-email.js'
import { printEmails } from '../print-emails.js'
import { addSettings, configFrom, DATABASE_SETTINGS } from '../settings.js'
import { addWorkspace, getWorkspace } from '../workspace.js'
import { addEmailDecisions } from './emails-decide.js'

interface Flags extends Record<string, unknown> {
  readonly workspace: string
  readonly json?: true
}

export function addEmails(program: Command): void {
  const emails = program.command('emails').description('list, show, cancel, retry, dismiss, resolve')
  const add = (usage: string, description: string) =>
    addSettings(addWorkspace(emails.command(usage).description(description)), DATABASE_SETTINGS).option(
      '--json',
      'print JSON',
    )
  addFilter(add('list', 'newest first'))
    .option('--limit <number>', 'how many at the most', '20')
    .option('--after <id>', 'those older than this one')
    .action(list)
  add('show <id>', 'one email: what it says and where it is').action(show)
  addEmailDecisions(add)
}

async function list(flags: Flags & FilterFlags & { limit: string; after?: string }): Promise<void> {
  const limit = readWhole('--limit', flags.limit, 1, 1_000)
  const filter = readFilter(flags)
  const after = flags.after === undefined ? {} : { after: readEmailId(flags.after) }
  await withPostrider(configFrom(flags), async ({ context }) => {
    const workspace = await getWorkspace(context.db, flags.workspace)
    // One more than asked for tells whether there are more.
    const found = await readEmails(context, workspace.id, filter, { limit: limit + 1, ...after })
    printEmails(found, limit, flags)
  })
}

async function show(text: string, flags: Flags): Promise<void> {
  const id = readEmailId(text)
  await withPostrider(configFrom(flags), async ({ context }) => {
    const workspace = await getWorkspace(context.db, flags.workspace)
    const email = await readEmail(context, workspace.id, id)
    if (!email) throw noSuchEmail(text)
    await printEmail(context, workspace.id, email, flags)
  })
}
