import { RELAXED_COMMIT, type Sql } from './client.js'
import { type Claim, leaseTaken, type LeasedRow, readClaim } from './lease-taken.js'
import { NEXT_CURSOR, takeHints } from './take-hints.js'

/**
 * Takes a fair batch of what is due, under one new lease: `take-hints` says what is fair, `lease-taken` what may begin.
 *
 * A crash before the commit leaves everything as it was. After it the lease exists, and when it runs out the rescuer
 * brings the actions back. The commit does not wait for the disk: if the server crashes and forgets the claim, the
 * actions are pending again, and whoever believes to hold them is refused when it arms.
 */
export interface ClaimRequest {
  readonly token: string
  readonly worker: string
  readonly limit: number
  readonly leaseMs: number
  readonly cursor: string
  /** Only lanes of this priority or a lower one; absent: all. */
  readonly mostPriority?: number
}

/** Before every lane. */
export const FIRST_LANE = '00000000-0000-0000-0000-000000000000'
const LAST_PRIORITY = 100

const claim = (now: string) => `
  with recursive ${RELAXED_COMMIT}, ${takeHints({ now, limit: '$4::int', cursor: '$5::uuid', mostPriority: '$6::int' })},
  ${leaseTaken(now, NEXT_CURSOR)}`

export async function claimActions(sql: Sql, request: ClaimRequest): Promise<Claim> {
  const { token, worker, limit, leaseMs, cursor, mostPriority = LAST_PRIORITY } = request
  const values = [token, worker, leaseMs, limit, cursor, mostPriority]
  const { rows } = await sql.query<LeasedRow>(claim(sql.now), values, { name: 'claim' })
  return readClaim(rows, token, cursor)
}
