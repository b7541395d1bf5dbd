import type { Json } from '../domain/action.js'
import { newId } from '../id.js'
import type { Sql } from './client.js'

export async function insertEvent(
  sql: Sql,
  workspaceId: string,
  { emailId, type, payload }: { emailId: string | null; type: string; payload: Json },
): Promise<string> {
  const id = newId()
  await sql.query(
    `insert into postrider.events (id, workspace_id, email_id, type, payload, at) values ($2, $1, $3, $4, $5, ${sql.now})`,
    [workspaceId, id, emailId, type, JSON.stringify(payload)],
  )
  return id
}

/**
 * Something was heard of an email that only a mail that went out can cause: what was uncertain is settled as sent. Only
 * the deliveries to `recipient`, if it is known.
 */
export async function settleByEvidence(
  sql: Sql,
  workspaceId: string,
  emailId: string,
  recipient: string | null,
): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `update postrider.scheduled_actions set state = 'done', needs_attention = false, lease_token = null, reason = null,
       reason_code = 'evidence', state_at = ${sql.now}
     where workspace_id = $1 and message_id = $2 and state = 'uncertain'
       and ($3::text is null or lower(payload ->> 'recipient') = lower($3)) returning id`,
    [workspaceId, emailId, recipient],
  )
  return rows.map(({ id }) => id)
}
