import type { Command } from 'commander'
import type { EmailDecision } from '../../db/decide-emails.js'
import type { EmailFilter } from '../../db/email-filter.js'
import { listEmails } from '../../db/list-emails.js'
import { PostriderError } from '../../errors.js'
import type { Context } from '../../operations/context.js'
import { decideEmail } from '../../operations/decide-email.js'
import { decideMatchingEmails } from '../../operations/decide-many.js'
import { readEmail } from '../../operations/read-emails.js'
import { readChoice } from '../choices.js'
import { CommandError, USAGE } from '../command-error.js'
import { confirm } from '../confirm.js'
import { addFilter, type FilterFlags, readFilter } from '../email-filter.js'
import { noSuchEmail, readEmailId } from '../email-id.js'
import { withPostrider } from '../open-postrider.js'
import { print, printJson } from '../print.js'
import { printEmail } from '../print-email.js'
import { configFrom } from '../settings.js'
import { getWorkspace } from '../workspace.js'

/** What an operator decides: about one email, or, for those that failed, about all that match. */
interface Flags extends Record<string, unknown> {
  readonly workspace: string
  readonly json?: true
}

interface MassFlags extends Flags, FilterFlags {
  readonly all?: true
  readonly yes?: true
  readonly dryRun?: true
}

const BY = { by: 'the command line' }

export function addEmailDecisions(add: (usage: string, description: string) => Command): void {
  add('cancel <id>', 'never send it; refused once it is being sent').action((id: string, flags: Flags) =>
    decide(id, 'cancel', flags),
  )
  add('resolve <id>', 'settle an uncertain one')
    .requiredOption('--as <outcome>', 'sent: it went out; resend: send it again')
    .action((id: string, flags: Flags & { as: string }) =>
      decide(id, readChoice('--as', flags.as, ['sent', 'resend']), flags),
    )
  for (const [decision, description] of [
    ['retry', 'send a failed one again, from the start'],
    ['dismiss', 'put a failed one aside'],
  ] as const)
    addFilter(add(`${decision} [id]`, description))
      .option('--all', 'all failed ones that match the filter')
      .option('--yes', 'do not ask')
      .option('--dry-run', 'only count them')
      .action((id: string | undefined, flags: MassFlags) => decideOneOrAll(id, decision, flags))
}

async function decide(text: string, decision: EmailDecision, flags: Flags): Promise<void> {
  const id = readEmailId(text)
  await withPostrider(configFrom(flags), async ({ context }) => {
    const workspace = await getWorkspace(context.db, flags.workspace)
    const decided = await decideEmail(context, workspace.id, id, decision, BY).catch((error: unknown) => {
      throw error instanceof PostriderError && error.code === 'email_not_found' ? noSuchEmail(text) : error
    })
    // Read again as it is shown elsewhere: one of a campaign is rendered.
    const email = (await readEmail(context, workspace.id, id)) ?? decided
    await printEmail(context, workspace.id, email, flags)
  })
}

async function decideOneOrAll(id: string | undefined, decision: 'retry' | 'dismiss', flags: MassFlags): Promise<void> {
  if (id !== undefined && flags.all) throw usage('Name one email, or --all that match, not both.')
  if (id === undefined && !flags.all) throw usage(`Name the email to ${decision}, or --all that match.`)
  if (id === undefined) return decideAll(decision, flags)
  for (const name of ['status', 'to', 'q', 'dryRun'] as const)
    if (flags[name] !== undefined) throw usage('A filter and --dry-run go with --all, not with one email.')
  return decide(id, decision, flags)
}

async function decideAll(decision: 'retry' | 'dismiss', flags: MassFlags): Promise<void> {
  const filter = { ...readFilter(flags), status: 'failed' as const }
  if (flags.status !== undefined && flags.status !== 'failed')
    throw usage(`Only failed emails can be ${PAST[decision]}: --status is ${flags.status}.`)
  await withPostrider(configFrom(flags), async ({ context }) => {
    const { id } = await getWorkspace(context.db, flags.workspace)
    const matched = await countFailed(context, id, filter)
    const emails = `${matched} failed ${matched === 1 ? 'email' : 'emails'}`
    if (flags.dryRun || matched === 0) {
      if (flags.json) printJson({ matched, changed: 0, dry_run: flags.dryRun ?? false })
      else print(flags.dryRun ? `${emails} would be ${PAST[decision]}.` : 'No failed email matches.')
      return
    }
    await confirm(`${decision === 'retry' ? 'Retry' : 'Dismiss'} ${emails}?`, flags.yes)
    const changed = await decideMatchingEmails(context, id, filter, decision, BY)
    if (flags.json) printJson({ matched, changed, dry_run: false })
    else print(`${changed} ${changed === 1 ? 'email' : 'emails'} ${PAST[decision]}.`)
  })
}

const PAST = { retry: 'retried', dismiss: 'dismissed' } as const
const PAGE = 500

async function countFailed({ db }: Context, workspaceId: string, filter: EmailFilter): Promise<number> {
  let count = 0
  let after: { after?: string } = {}
  for (;;) {
    const page = await listEmails(db, workspaceId, filter, { limit: PAGE, ...after })
    count += page.length
    if (page.length < PAGE) return count
    after = { after: page.at(-1)!.id }
  }
}

const usage = (text: string) => new CommandError(USAGE, text)
