import type { Command } from 'commander'
import type { Postrider } from '../../postrider.js'
import { PostriderError } from '../../errors.js'
import { toEmailRef } from '../../http/email-json.js'
import { sendEmails } from '../../operations/send-emails.js'
import { withPostrider } from '../open-postrider.js'
import { note, print, printJson } from '../print.js'
import { type EmailFlags, readEmail, refusal } from '../read-email.js'
import { requireMailServer } from '../require-mail-server.js'
import { addSettings, configFrom, DATABASE_SETTINGS } from '../settings.js'
import { addWorkspace, getWorkspace } from '../workspace.js'

interface Flags extends EmailFlags, Record<string, unknown> {
  readonly idempotencyKey?: string
  readonly workspace: string
  readonly json?: true
}

export function addSend(program: Command): void {
  const command = program
    .command('send')
    .description('send one email')
    .option('--to <address...>', 'to whom; repeatable')
    .option('--cc <address...>', 'who gets a copy')
    .option('--bcc <address...>', 'who gets a copy unseen by the others')
    .option('--reply-to <address...>', 'where answers go')
    .option('--from <address>', "whom it comes from; the default sender's address unless given")
    .option('--subject <text>', 'its subject')
    .option('--text <text>', 'its text; - reads it from standard input')
    .option('--html <html>', 'its html; - reads it from standard input')
    .option('--text-file <file>', 'its text, from a file')
    .option('--html-file <file>', 'its html, from a file')
    .option('--attach <file...>', 'files to attach')
    .option('--header <header...>', "a header of one's own, such as 'X-Order: 12'")
    .option('--schedule <instant>', 'not before this, such as 2026-11-16T09:00:00Z')
    .option('--idempotency-key <key>', 'the same command with the same key sends one email')
    .option('--inline', 'send it now, from this process, and wait for what comes of it')
    .option('--json', 'print JSON')
  const settings = [...DATABASE_SETTINGS, 'SMTP_URL', 'MAIL_FROM', 'POSTRIDER_SECRET'] as const
  addSettings(addWorkspace(command), settings).action(send)
}

async function send(flags: Flags): Promise<void> {
  const config = configFrom(flags)
  const email = await readEmail(flags)
  const accept = async (postrider: Postrider) => {
    if (flags.inline) await requireMailServer(postrider, config)
    const { context } = postrider
    const workspace = await getWorkspace(context.db, flags.workspace)
    const { emails, replayed } = await sendEmails(context, workspace.id, [email], {
      idempotencyKey: flags.idempotencyKey,
      deadlineMs: config.inlineDeadlineMs,
    }).catch((error: unknown) => {
      throw error instanceof PostriderError && error.problems.length > 0 ? refusal(error.problems) : error
    })
    const sent = toEmailRef(emails[0]!)
    if (flags.json) printJson({ ...sent, replayed })
    else print(`${sent.id} ${sent.status}`)
    if (replayed) note('This key was used before for the same email: no second one was made.')
    // Only an inline one can have failed by now.
    if (sent.status === 'failed') process.exitCode = 1
  }
  await withPostrider(config, accept, { create: true })
}
