import type { Json } from '../domain/action.js'
import { newId } from '../id.js'
import type { Sql } from './client.js'
import { ofEmail } from './of-email.js'

export interface EventRow {
  readonly emailId: string | null
  readonly contactId?: string | null
  /** The teller's own id of it. */
  readonly externalId?: string | null
  readonly type: string
  readonly payload: Json
}

export async function insertEvent(sql: Sql, workspaceId: string, event: EventRow): Promise<string> {
  return (await insertNewEvent(sql, workspaceId, event)).id
}

/** Told again under the teller's own id, it is not recorded again: the unique key decides, also between two at once. */
export async function insertNewEvent(
  sql: Sql,
  workspaceId: string,
  { emailId, contactId, externalId, type, payload }: EventRow,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const id = newId()
  const { rowCount } = await sql.query(
    `insert into postrider.events (id, workspace_id, email_id, contact_id, external_id, type, payload, at)
     values ($2, $1, $3, $4, $5, $6, $7, ${sql.now})
     on conflict (workspace_id, external_id) where external_id is not null do nothing`,
    [workspaceId, id, emailId, contactId ?? null, externalId ?? null, type, JSON.stringify(payload)],
  )
  if (rowCount === 1) return { id, isNew: true }
  const { rows } = await sql.query<{ id: string }>(
    `select id from postrider.events where workspace_id = $1 and external_id = $2`,
    [workspaceId, externalId],
  )
  return { id: rows[0]?.id ?? id, isNew: false }
}

/** What was heard of a contact from an instant on. */
export async function findContactEvents(
  sql: Sql,
  workspaceId: string,
  contactId: string,
  from: Date,
): Promise<{ readonly type: string; readonly at: Date }[]> {
  const { rows } = await sql.query<{ type: string; at: Date }>(
    `select type, at from postrider.events where workspace_id = $1 and contact_id = $2 and at >= $3`,
    [workspaceId, contactId, from],
  )
  return rows
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
     where workspace_id = $1 and ${ofEmail('$2')} and state = 'uncertain'
       and ($3::text is null or lower(payload ->> 'recipient') = lower($3)) returning id`,
    [workspaceId, emailId, recipient],
  )
  return rows.map(({ id }) => id)
}
