import { RELAXED_COMMIT, type Sql } from './client.js'

/** Moves the end of leases; returns the tokens that still exist. A token that is missing was rescued: all of it is lost. */
export async function renewLeases(sql: Sql, tokens: readonly string[], leaseMs: number): Promise<Set<string>> {
  const { rows } = await sql.query<{ token: string }>(
    `with ${RELAXED_COMMIT}
     update postrider.leases set expires_at = ${sql.now} + $2::float8 * interval '1 millisecond'
     from relaxed where token = any ($1::uuid[]) returning token`,
    [tokens, leaseMs],
  )
  return new Set(rows.map(({ token }) => token))
}

/**
 * Removes leases under which nothing is held any more. Only for a lease whose every action was confirmed settled by the
 * database: one that was removed while an action still pointed to it would leave that action with nobody to rescue it.
 */
export async function dropLeases(sql: Sql, tokens: readonly string[]): Promise<void> {
  await sql.query(`with ${RELAXED_COMMIT} delete from postrider.leases using relaxed where token = any ($1::uuid[])`, [
    tokens,
  ])
}
