import type { Command } from 'commander'
import type { Email } from '../../db/emails.js'
import { findSender } from '../../db/senders.js'
import { toEmail, writeMailbox } from '../../http/email-json.js'
import { showId } from '../../id.js'
import { readEmail } from '../../operations/read-emails.js'
import { readEmailWalk } from '../../operations/read-enrollment.js'
import { noSuchEmail, readEmailId } from '../email-id.js'
import { type About, explainDelivery } from '../explain-delivery.js'
import { withPostrider } from '../open-postrider.js'
import { print, printJson } from '../print.js'
import { oneLine, wrap } from '../safe-text.js'
import { addSettings, configFrom, DATABASE_SETTINGS } from '../settings.js'
import { terminalWidth } from '../table.js'
import { toTimeline } from '../timeline.js'
import { addWorkspace, getWorkspace } from '../workspace.js'

export function addTrace(program: Command): void {
  addSettings(
    addWorkspace(program.command('trace <email-id>').description('the whole life of one email')),
    DATABASE_SETTINGS,
  )
    .option('--json', 'print JSON')
    .action(async (text: string, flags: Record<string, unknown> & { workspace: string; json?: true }) => {
      const id = readEmailId(text)
      await withPostrider(configFrom(flags), async ({ context }) => {
        const { db } = context
        const workspace = await getWorkspace(db, flags.workspace)
        const email = await readEmail(context, workspace.id, id)
        if (!email) throw noSuchEmail(text)
        const about = {
          sender: await findSender(db, workspace.id, email.senderId),
          walk: await readEmailWalk(context, workspace.id, email),
        }
        if (flags.json) printJson(toJson(email, about))
        else print(format(email, about, terminalWidth()))
      })
    })
}

/** The email as the API shows it, with its story and what is to be said about each recipient. */
const toJson = (email: Email, about: About) => ({
  ...toEmail(email, about.sender, about.walk),
  timeline: toTimeline(email).map(({ at, ...moment }) => ({ at: at.toISOString(), ...moment })),
  now: email.deliveries.map((delivery) => ({
    recipient: delivery.recipient,
    status: delivery.status,
    since: delivery.stateAt.toISOString(),
    explain: explainDelivery(email, delivery, about),
  })),
})

const time = (instant: Date) => instant.toISOString().slice(0, 23).replace('T', ' ')
const INDENT = ' '.repeat('2026-11-16 09:00:00.000  '.length)

const NOW = 'now'.padEnd(INDENT.length)

function format(email: Email, about: About, width: number): string {
  const put = (head: string, text: string) => wrap(`${head}${oneLine(text)}`, width, INDENT)
  return [
    `${showId('em', email.id)}  ${email.status}`,
    put('  from        ', writeMailbox(email.from)),
    put('  to          ', [...email.to, ...email.cc, ...email.bcc].map(writeMailbox).join(', ')),
    put('  subject     ', email.subject),
    put('  Message-ID  ', email.messageId),
    '',
    ...toTimeline(email).flatMap(({ at, what, details }) => [
      put(`${time(at)}  `, what),
      ...details.map((detail) => put(INDENT, detail)),
    ]),
    '',
    ...email.deliveries.flatMap((delivery) => [
      put(NOW, `${delivery.recipient}: ${delivery.status} since ${time(delivery.stateAt)}`),
      put(INDENT, explainDelivery(email, delivery, about)),
    ]),
    'Times are in UTC.',
  ].join('\n')
}
