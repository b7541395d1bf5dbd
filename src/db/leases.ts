import type { Sql } from './client.js'

/** Moves the end of leases; returns the tokens that still exist. A token that is missing was rescued: all of it is lost. */
export async function renewLeases(sql: Sql, tokens: readonly string[], leaseMs: number): Promise<Set<string>> {
  const { rows } = await sql.query<{ token: string }>(
    `update postrider.leases set expires_at = ${sql.now} + $2::float8 * interval '1 millisecond'
     where token = any ($1::uuid[]) returning token`,
    [tokens, leaseMs],
  )
  return new Set(rows.map(({ token }) => token))
}

/**
 * Removes leases that hold nothing any more. It looks at the actions again rather than believing the worker: a lease
 * that was removed while an action still pointed to it would leave that action with nobody to rescue it.
 */
export async function dropLeases(sql: Sql, tokens: readonly string[]): Promise<void> {
  await sql.query(
    `delete from postrider.leases
     where token = any ($1::uuid[]) and not exists (
       select 1 from postrider.scheduled_actions
       where id = any (leases.action_ids) and lease_token = leases.token and state in ('leased', 'armed'))`,
    [tokens],
  )
}
