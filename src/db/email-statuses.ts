import { type EmailStatus, leastFinished, statusOf } from '../domain/email-status.js'
import type { ActionState } from '../domain/states.js'
import type { Sql } from './client.js'
import { ofEmail } from './of-email.js'

/** The status each email is shown with, by id. */
export async function readEmailStatuses(
  sql: Sql,
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, EmailStatus>> {
  const known = await readDeliveryStatuses(sql, workspaceId, ids)
  return new Map([...known].map(([id, statuses]) => [id, leastFinished(statuses)]))
}

/** The statuses of the deliveries of each. */
export async function readDeliveryStatuses(
  sql: Sql,
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly EmailStatus[]>> {
  const { rows } = await sql.query<{
    message_id: string
    states: { state: ActionState; reason_code: string | null }[]
  }>(
    `select message_id, json_agg(json_build_object('state', state, 'reason_code', reason_code)) as states
     from postrider.scheduled_actions where workspace_id = $1 and ${ofEmail('$2::uuid[]', { many: true })} group by message_id`,
    [workspaceId, ids],
  )
  return new Map(
    rows.map(({ message_id, states }) => [
      message_id,
      states.map(({ state, reason_code }) => statusOf(state, reason_code)),
    ]),
  )
}
