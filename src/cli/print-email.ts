import type { Email } from '../db/emails.js'
import { findSender } from '../db/senders.js'
import { toEmail, writeMailbox } from '../http/email-json.js'
import { showId } from '../id.js'
import type { Context } from '../operations/context.js'
import { readEmailWalk } from '../operations/read-enrollment.js'
import { explainDelivery } from './explain-delivery.js'
import { print, printJson } from './print.js'
import { oneLine, severalLines } from './safe-text.js'

/** One email: what it says, where each recipient's copy is, and what comes next. */
export async function printEmail(
  context: Context,
  workspaceId: string,
  email: Email,
  { json }: { readonly json?: true },
): Promise<void> {
  const sender = await findSender(context.db, workspaceId, email.senderId)
  const walk = await readEmailWalk(context, workspaceId, email)
  if (json) return printJson(toEmail(email, sender, walk))
  const facts = {
    status: email.status,
    from: writeMailbox(email.from),
    to: email.to.map(writeMailbox).join(', '),
    cc: email.cc.map(writeMailbox).join(', '),
    bcc: email.bcc.map(writeMailbox).join(', '),
    subject: email.subject,
    accepted: email.createdAt.toISOString(),
    attached: email.attachments.map(({ filename, size }) => `${filename} (${size} bytes)`).join(', '),
  }
  const lines = Object.entries(facts)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `  ${name.padEnd(8)}  ${oneLine(value)}`)
  const states = email.deliveries.map(
    (delivery) => `${oneLine(delivery.recipient)}: ${oneLine(explainDelivery(email, delivery, { sender, walk }))}`,
  )
  const body = email.text === null ? [] : ['', severalLines(email.text.trimEnd())]
  print([showId('em', email.id), ...lines, '', ...states, ...body].join('\n'))
}
