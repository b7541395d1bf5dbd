import type { ActionState } from '../domain/states.js'
import type { Sql } from './client.js'

/** The emails of an enrollment, in the order of its steps. */
export interface EnrollmentEmail {
  readonly id: string
  readonly nodeId: string
  readonly state: ActionState
  readonly stateAt: Date
  readonly runAt: Date
  readonly reason: string | null
  readonly reasonCode: string | null
}

export async function findEnrollmentEmails(sql: Sql, enrollmentId: string): Promise<EnrollmentEmail[]> {
  const { rows } = await sql.query<EnrollmentEmail>(
    // By the database's clock, because ids are made by the clocks of processes; those planned together are in order.
    `select id, node_id as "nodeId", state, state_at as "stateAt", run_at as "runAt", reason, reason_code as "reasonCode"
     from postrider.scheduled_actions where enrollment_id = $1 and type = 'send' order by created_at, id`,
    [enrollmentId],
    { name: 'emails of an enrollment' },
  )
  return rows
}

/** Those that come before this one; all of them if it is not among them. */
export function emailsBefore<Email extends { readonly id: string }>(
  emails: readonly Email[],
  id: string,
): readonly Email[] {
  const place = emails.findIndex((email) => email.id === id)
  return place === -1 ? emails : emails.slice(0, place)
}
