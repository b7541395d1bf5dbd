import type { Sql } from './client.js'
import type { EmailFilter } from './email-filter.js'
import {
  CAMPAIGN_EMAILS,
  CAMPAIGN_SUMMARY,
  deliveriesOf,
  type EmailSummary,
  SUMMARY,
  type SummaryRow,
  toSummary,
} from './emails.js'
import { findEmails } from './find-emails.js'
import { ofMessage } from './of-email.js'
import { type Cursor, PATIENCE_MS, searchOn } from './search-on.js'

/** Emails as people see them in lists, those with a message and those of campaigns, newest first. */
export interface EmailPage {
  readonly emails: readonly EmailSummary[]
  /** Nothing beyond this email was looked at; null when everything was, or the page is full. */
  readonly searchedUntil: string | null
}

/** A page, or as much of it as is found in a moment. */
export async function searchEmails(
  sql: Sql,
  workspaceId: string,
  filter: EmailFilter,
  cursor: Cursor,
  patienceMs = PATIENCE_MS,
): Promise<EmailPage> {
  const { ids, searchedUntil } = await searchOn(cursor, patienceMs, (rest) =>
    findEmails(sql, workspaceId, filter, rest),
  )
  return { emails: await readSummaries(sql, workspaceId, ids), searchedUntil }
}

/** A whole page, however long it takes. */
export const listEmails = async (
  sql: Sql,
  workspaceId: string,
  filter: EmailFilter,
  cursor: Cursor,
): Promise<readonly EmailSummary[]> =>
  (await searchEmails(sql, workspaceId, filter, cursor, Number.POSITIVE_INFINITY)).emails

async function readSummaries(sql: Sql, workspaceId: string, ids: readonly string[]): Promise<EmailSummary[]> {
  if (ids.length === 0) return []
  const { rows } = await sql.query<SummaryRow>(
    `select ${SUMMARY} from postrider.messages message
       cross join lateral (${deliveriesOf(ofMessage('message.id', { alias: 'action' }))}) related
     where message.workspace_id = $1 and message.id = any ($2::uuid[])
     union all
     select ${CAMPAIGN_SUMMARY} from ${CAMPAIGN_EMAILS}
     where action.workspace_id = $1 and action.id = any ($2::uuid[]) and action.contact_id is not null`,
    [workspaceId, ids],
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  // One that was forgotten in between is not shown.
  return ids.flatMap((id) => {
    const row = byId.get(id)
    return row ? [toSummary(row)] : []
  })
}
