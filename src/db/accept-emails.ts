import type { Json } from '../domain/action.js'
import type { Message, OnUncertain } from '../domain/message.js'
import type { Sql } from './client.js'
import { hintActions } from './hint-actions.js'

/**
 * Accepts any number of emails with one statement: keys, messages, attachments, send actions, and the hints of those
 * that are due. So an email is there whole or not at all, whoever dies when, and a hundred callers share one commit.
 *
 * The key decides, not a look-up before it: `on conflict do nothing` waits for a transaction that is inserting the same
 * key, and everything else is written for the keys that were really inserted. Emails whose key was taken are left out
 * of the answer, and the caller looks up what they stood for in a statement of its own, because this one's snapshot may
 * be older than the row that won.
 *
 * An inline email is inserted already leased to the process that accepts it. If that process dies, its lease runs out
 * like any other and a worker takes over.
 *
 * Nothing but new rows is locked: this may run in a caller's own transaction.
 */
export interface PreparedEmail extends Omit<Message, 'date' | 'attachments'> {
  readonly senderId: string
  readonly laneId: string
  readonly tags: readonly { readonly name: string; readonly value: string }[]
  readonly attachments: readonly {
    readonly filename: string
    readonly contentType: string
    readonly contentId: string | null
    /** Base64. */
    readonly content: string
  }[]
  readonly onUncertain: OnUncertain
  readonly retryPolicy: string
  readonly scheduledAt: Date | null
  readonly expiresAt: Date | null
  /** One per envelope recipient. */
  readonly deliveries: readonly { readonly id: string; readonly dedupeKey: string; readonly recipient: string }[]
  /** Folded envelope addresses. */
  readonly recipients: readonly string[]
  /** The idempotency key this email came with. */
  readonly key: string | null
  /** For an inline email: the lease under which the accepting process holds it. */
  readonly lease: { readonly token: string; readonly worker: string; readonly leaseMs: number } | null
}

export interface NewIdempotencyKey {
  readonly workspaceId: string
  readonly key: string
  readonly fingerprint: string
  readonly emailIds: readonly string[]
  readonly answer: Json
}

const accept = (now: string) => `
  with wanted as materialized (
    select * from json_to_recordset($1::json) as row (
      id uuid, workspace_id uuid, key text, sender_id uuid, lane_id uuid, message_id text, addressing jsonb,
      recipients text[], subject text, html text, text text, headers jsonb, tags jsonb, calendar jsonb,
      attachments json, on_uncertain text, retry_policy text, scheduled_at timestamptz, expires_at timestamptz,
      deliveries json, token uuid, worker text, lease_ms float8)
  ), keyed as (
    insert into postrider.idempotency_keys (workspace_id, key, fingerprint, email_ids, answer, created_at)
    select workspace_id, key, fingerprint, email_ids, answer, ${now}
    from json_to_recordset($2::json) as row (
      workspace_id uuid, key text, fingerprint text, email_ids uuid[], answer jsonb)
    order by workspace_id, key
    on conflict do nothing
    returning email_ids
  ), accepted as materialized (
    select * from wanted where key is null or id in (select unnest(email_ids) from keyed)
  ), written as (
    insert into postrider.messages (
      id, workspace_id, sender_id, message_id, date, addressing, recipients, subject, html, text, headers, tags,
      calendar, attachment_count, inline, on_uncertain, scheduled_at, expires_at, created_at)
    select id, workspace_id, sender_id, message_id, date_trunc('second', ${now}), addressing, recipients, subject, html,
      text, headers, tags, calendar, json_array_length(attachments), token is not null, on_uncertain, scheduled_at,
      expires_at, ${now}
    from accepted
  ), attached as (
    insert into postrider.attachments (message_id, position, filename, content_type, content_id, content)
    select accepted.id, file.position, file.value ->> 'filename', file.value ->> 'content_type',
      file.value ->> 'content_id', decode(file.value ->> 'content', 'base64')
    from accepted, json_array_elements(attachments) with ordinality as file (value, position)
  ), scheduled as (
    insert into postrider.scheduled_actions (
      id, workspace_id, lane_id, type, dedupe_key, run_at, wake_at, expires_at, payload, retry_policy, message_id,
      on_uncertain, state, lease_token, created_at, state_at)
    select delivery.id, workspace_id, lane_id, 'send', delivery.key, coalesce(scheduled_at, ${now}),
      case when scheduled_at > ${now} then scheduled_at end, expires_at,
      jsonb_build_object('message', accepted.id, 'recipient', delivery.recipient), retry_policy, accepted.id,
      nullif(on_uncertain, 'hold'), case when token is null then 'pending' else 'leased' end, token, ${now}, ${now}
    from accepted, json_to_recordset(deliveries) as delivery (id uuid, key text, recipient text)
    order by workspace_id, delivery.key
    returning id, lane_id, run_at, wake_at, lease_token
  ), leased as (
    insert into postrider.leases (token, worker, leased_at, expires_at, action_ids)
    select token, worker, ${now}, ${now} + lease_ms * interval '1 millisecond',
      array(select id from json_to_recordset(deliveries) as delivery (id uuid))
    from accepted where token is not null
  ), hinted as (${hintActions('select lane_id, run_at, id from scheduled where wake_at is null and lease_token is null')}
  )
  select id, ${now} as accepted_at from accepted`

/** Returns when each was accepted, by id. The missing ones came with a key that was taken. */
export async function acceptEmails(
  sql: Sql,
  emails: readonly PreparedEmail[],
  keys: readonly NewIdempotencyKey[],
): Promise<ReadonlyMap<string, Date>> {
  const { rows } = await sql.query<{ id: string; accepted_at: Date }>(
    accept(sql.now),
    [JSON.stringify(emails.map(row)), JSON.stringify(keys.map(keyRow))],
    { name: 'accept' },
  )
  return new Map(rows.map(({ id, accepted_at }) => [id, accepted_at]))
}

/** Another action has the key of one of these emails, although no email came with theirs. */
export const isKeyTaken = (error: unknown): boolean =>
  (error as { constraint?: string } | undefined)?.constraint === 'scheduled_actions_dedupe'

const row = (email: PreparedEmail) => ({
  id: email.id,
  workspace_id: email.workspaceId,
  key: email.key,
  sender_id: email.senderId,
  lane_id: email.laneId,
  message_id: email.messageId,
  addressing: { from: email.from, to: email.to, cc: email.cc, bcc: email.bcc, reply_to: email.replyTo },
  recipients: email.recipients,
  subject: email.subject,
  html: email.html,
  text: email.text,
  headers: email.headers,
  tags: email.tags,
  calendar: email.calendar,
  attachments: email.attachments.map(({ filename, contentType, contentId, content }) => ({
    filename,
    content_type: contentType,
    content_id: contentId,
    content,
  })),
  on_uncertain: email.onUncertain,
  retry_policy: email.retryPolicy,
  scheduled_at: email.scheduledAt,
  expires_at: email.expiresAt,
  deliveries: email.deliveries.map(({ id, dedupeKey, recipient }) => ({ id, key: dedupeKey, recipient })),
  token: email.lease?.token,
  worker: email.lease?.worker,
  lease_ms: email.lease?.leaseMs,
})

const keyRow = ({ workspaceId, key, fingerprint, emailIds, answer }: NewIdempotencyKey) => ({
  workspace_id: workspaceId,
  key,
  fingerprint,
  email_ids: emailIds,
  answer,
})

export interface KnownKey {
  readonly fingerprint: string
  readonly emailIds: readonly string[]
  readonly answer: Json
}

export async function findIdempotencyKey(sql: Sql, workspaceId: string, key: string): Promise<KnownKey | null> {
  const { rows } = await sql.query<{ fingerprint: string; email_ids: string[]; answer: Json }>(
    `select fingerprint, email_ids, answer from postrider.idempotency_keys where workspace_id = $1 and key = $2`,
    [workspaceId, key],
  )
  const row = rows[0]
  return row ? { fingerprint: row.fingerprint, emailIds: row.email_ids, answer: row.answer } : null
}

/** An inline send is over: from now on the same key gets this answer. */
export async function answerIdempotencyKey(sql: Sql, workspaceId: string, key: string, answer: Json): Promise<void> {
  await sql.query(`update postrider.idempotency_keys set answer = $3 where workspace_id = $1 and key = $2`, [
    workspaceId,
    key,
    JSON.stringify(answer),
  ])
}
