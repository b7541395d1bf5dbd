import type { EmailSummary } from '../db/emails.js'
import { toEmailSummary } from '../http/email-json.js'
import { showId } from '../id.js'
import { note, print, printJson } from './print.js'
import { formatTable, terminalWidth } from './table.js'

/** A page of emails. `found` holds one more than asked for if there are more. */
export function printEmails(found: readonly EmailSummary[], limit: number, { json }: { readonly json?: true }): void {
  const emails = found.slice(0, limit)
  const more = found.length > limit
  if (json) return printJson({ object: 'list', has_more: more, data: emails.map(toEmailSummary) })
  if (emails.length === 0) return note('No emails.')
  print(formatTable(emails, COLUMNS, terminalWidth()))
  if (more) note(`There are more: --after ${showId('em', emails.at(-1)!.id)}`)
}

const COLUMNS = [
  { title: 'ID', cell: ({ id }: EmailSummary) => showId('em', id) },
  { title: 'STATUS', cell: ({ status }: EmailSummary) => status },
  { title: 'TO', cell: (email: EmailSummary) => recipientsOf(email), mayBeCut: true as const },
  { title: 'SUBJECT', cell: ({ subject }: EmailSummary) => subject, mayBeCut: true as const },
]

const recipientsOf = ({ deliveries: [first, ...others] }: EmailSummary) =>
  `${first?.recipient ?? 'nobody'}${others.length > 0 ? ` +${others.length}` : ''}`
