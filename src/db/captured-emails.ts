import { isId } from '../id.js'
import type { Sql } from './client.js'

/** The dev inbox: what the `capture` provider took instead of sending it. */
export interface CapturedEmail {
  /** The id of the action that was carried out. */
  readonly id: string
  readonly emailId: string
  readonly returnPath: string
  readonly recipient: string
  readonly raw: Buffer
  readonly capturedAt: Date
}

export interface NewCapturedEmail extends Omit<CapturedEmail, 'capturedAt'> {
  readonly workspaceId: string
}

export async function insertCapturedEmails(sql: Sql, emails: readonly NewCapturedEmail[]): Promise<void> {
  await sql.query(
    `insert into postrider.captured_emails (id, workspace_id, email_id, return_path, recipient, raw, captured_at)
     select id, workspace_id, email_id, return_path, recipient, decode(raw, 'base64'), ${sql.now}
     from json_to_recordset($1::json) as row (
       id uuid, workspace_id uuid, email_id uuid, return_path text, recipient text, raw text)
     on conflict do nothing`,
    [
      JSON.stringify(
        emails.map((email) => ({
          id: email.id,
          workspace_id: email.workspaceId,
          email_id: email.emailId,
          return_path: email.returnPath,
          recipient: email.recipient,
          raw: email.raw.toString('base64'),
        })),
      ),
    ],
  )
}

const COLUMNS = `id, email_id as "emailId", return_path as "returnPath", recipient, captured_at as "capturedAt"`

/** What a list shows is in the headers, and an email may be 30 MB long. */
export interface CapturedHead extends Omit<CapturedEmail, 'raw'> {
  readonly head: Buffer
  readonly size: number
}

const HEAD_BYTES = 64 * 1024

/** Newest first. */
export async function listCapturedEmails(
  sql: Sql,
  workspaceId: string,
  { before, limit }: { before: string | null; limit: number },
): Promise<CapturedHead[]> {
  const { rows } = await sql.query<CapturedHead>(
    `select ${COLUMNS}, substring(raw for ${HEAD_BYTES}) as head, length(raw) as size from postrider.captured_emails
     where workspace_id = $1 and ($2::uuid is null or id < $2) order by id desc limit $3`,
    [workspaceId, before, limit],
  )
  return rows
}

/** All of it, oldest first: for tests, whose inbox is small. */
export async function readInbox(sql: Sql, workspaceId: string): Promise<CapturedEmail[]> {
  const { rows } = await sql.query<CapturedEmail>(
    `select ${COLUMNS}, raw from postrider.captured_emails where workspace_id = $1 order by id`,
    [workspaceId],
  )
  return rows
}

export async function findCapturedEmail(sql: Sql, workspaceId: string, id: string): Promise<CapturedEmail | null> {
  if (!isId(id)) return null
  const { rows } = await sql.query<CapturedEmail>(
    `select ${COLUMNS}, raw from postrider.captured_emails where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  )
  return rows[0] ?? null
}

export async function deleteCapturedEmails(sql: Sql, workspaceId: string): Promise<number> {
  const { rowCount } = await sql.query(`delete from postrider.captured_emails where workspace_id = $1`, [workspaceId])
  return rowCount
}
