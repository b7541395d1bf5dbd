import type { Sql } from './client.js'
import { hintActions } from './hint-actions.js'

/**
 * Schedules emails of sequences, any number with one statement. The unique key `{contact}:{sequence}:{step}` decides about
 * duplicates: nobody gets a step twice, whatever was launched twice.
 *
 * Their slots were booked in the same transaction, so an email and its place in the sender's day exist together or not at
 * all. What is not inserted gives its place back: the caller does, from the ids that come back.
 */
export interface NewStep {
  /** Also the email's. */
  readonly id: string
  readonly campaignId: string
  readonly key: string
  readonly enrollmentId: string
  readonly nodeId: string
  readonly contactId: string
  readonly recipient: string
  /** After the email before it, at least. */
  readonly delayMs: number
  readonly runAt: Date
  readonly expiresAt: Date | null
  readonly bookedOn: string | null
  readonly slotAt: Date | null
}

const insert = (now: string) => `
  with wanted as (
    select * from json_to_recordset($2::json) as row (id uuid, "campaignId" uuid, key text, "enrollmentId" uuid, "nodeId" text,
      "contactId" uuid, recipient text, "delayMs" float8, "runAt" timestamptz, "expiresAt" timestamptz, "bookedOn" date,
      "slotAt" timestamptz)
  ), inserted as (
    insert into postrider.scheduled_actions (id, workspace_id, lane_id, type, dedupe_key, run_at, wake_at, expires_at,
      payload, retry_policy, message_id, contact_id, booked_on, slot_at, enrollment_id, node_id, created_at, state_at)
    select id, $1, "campaignId", 'send', key, "runAt", case when "runAt" > ${now} then "runAt" end, "expiresAt",
      jsonb_build_object('contact', "contactId", 'recipient', recipient, 'delay', "delayMs"), 'outreach', id, "contactId",
      "bookedOn", "slotAt", "enrollmentId", "nodeId", ${now}, ${now}
    from wanted order by key
    on conflict (workspace_id, dedupe_key) do nothing
    returning id, lane_id, run_at, wake_at
  ), hinted as (${hintActions('select lane_id, run_at, id from inserted where wake_at is null')}
  )
  select id from inserted`

export async function scheduleSteps(
  tx: Sql,
  workspaceId: string,
  steps: readonly NewStep[],
): Promise<ReadonlySet<string>> {
  if (steps.length === 0) return new Set()
  const { rows } = await tx.query<{ id: string }>(insert(tx.now), [workspaceId, JSON.stringify(steps)])
  return new Set(rows.map(({ id }) => id))
}
