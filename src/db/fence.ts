import type { Held } from '../domain/action.js'

/**
 * The fence of a write about actions of several leases: each row must still be under the token that its own holder
 * names, and not merely under one of them. The ids are the first parameter, the token of each the second.
 *
 * The rows are found by `id = any ($1::uuid[])`; this only asks each of them. `is true` keeps it that way: without it
 * the planner may turn the question into a join, and a join into reading the whole table. So it looks the pair up in a
 * table of hashes, which for a thousand rows costs a tenth of what it costs to write and read one JSON object with their
 * tokens by id.
 */
export const FENCED = `((id, lease_token) in (select * from unnest($1::uuid[], $2::uuid[]))) is true`

/** The first two parameters. As text: ids need no quotes, and writing each of a thousand as if it might costs a worker. */
export const writeFence = (held: readonly Held[]): [ids: string, tokens: string] => [
  `{${held.map(({ id }) => id).join()}}`,
  `{${held.map(({ leaseToken }) => leaseToken).join()}}`,
]
