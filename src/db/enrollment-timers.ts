import type { Sql } from './client.js'

/** The wait or the timeout an enrollment is in: what moves it on if nothing else does. */
export interface EnrollmentTimer {
  readonly type: 'wait' | 'timeout'
  readonly runAt: Date
}

export async function findEnrollmentTimer(sql: Sql, enrollmentId: string): Promise<EnrollmentTimer | null> {
  const { rows } = await sql.query<EnrollmentTimer>(
    // There is one at a time; the newest, should a late one of an earlier visit not have come yet.
    `select type, run_at as "runAt" from postrider.scheduled_actions
     where enrollment_id = $1 and type in ('wait', 'timeout') and state in ('pending', 'leased') order by id desc limit 1`,
    [enrollmentId],
  )
  return rows[0] ?? null
}
