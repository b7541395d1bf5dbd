import type { Sql } from './client.js'

/** An enrollment goes on: whatever of it should have come while it was paused comes now. */
export async function wakeEnrollment(tx: Sql, enrollmentId: string): Promise<void> {
  await tx.query(
    `update postrider.scheduled_actions set wake_at = ${tx.now}, run_at = ${tx.now}
     where enrollment_id = $1 and state = 'pending' and wake_at > ${tx.now}
       and case type when 'send' then slot_at <= ${tx.now}
         else (payload ->> 'due')::timestamptz <= ${tx.now} end`,
    [enrollmentId],
  )
}
