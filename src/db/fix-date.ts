import type { Sql } from './client.js'

/**
 * Fixes the Date of an email that was planned long before it goes out: the moment of its first hand-over, for ever. A
 * second attempt is then the same message. Null when the lease is not this worker's any more.
 */
export async function fixDate(
  sql: Sql,
  { actionId, leaseToken }: { readonly actionId: string; readonly leaseToken: string },
): Promise<Date | null> {
  const { rows } = await sql.query<{ date: Date }>(
    `update postrider.scheduled_actions set payload = payload || jsonb_build_object('date',
       coalesce(payload ->> 'date', to_char(${sql.now} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')))
     where id = $1 and lease_token = $2 and state = 'leased' returning (payload ->> 'date')::timestamptz as date`,
    [actionId, leaseToken],
  )
  return rows[0]?.date ?? null
}
