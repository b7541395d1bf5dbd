import { armActions } from '../../src/db/arm-actions.js'
import { claimActions, FIRST_LANE } from '../../src/db/claim-actions.js'
import type { Sql } from '../../src/db/client.js'
import { dropLeases } from '../../src/db/leases.js'
import { promoteActions } from '../../src/db/promote-actions.js'
import { scheduleActions } from '../../src/db/schedule-actions.js'
import { settleActions } from '../../src/db/settle-actions.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import { countBuffers } from './count-buffers.js'
import { explain } from './explain.js'
import { type ClaimGround, laneId } from './ground.js'
import { heldUnder, settledUnder } from '../../test/support/held-under.js'

export const CLAIM = 500
export const PROMOTION = 1_000
const DUE_LANES = 10
const BATCH = 1_000
const LEASE_MS = 3_600_000

export interface Sample {
  readonly ms: number
  readonly buffers: number
}

export interface Round {
  readonly promotion: Sample
  readonly claims: readonly Sample[]
}

const newActions = (count: number, runAt?: Date) =>
  Array.from({ length: count }, (_, i) => {
    const key = newId()
    return { type: 'noop', laneId: laneId(i % DUE_LANES), dedupeKey: key, payload: { key }, ...(runAt && { runAt }) }
  })

export async function makeDue({ db }: ClaimGround, count: number): Promise<void> {
  for (let made = 0; made < count; made += BATCH)
    await scheduleActions(db, DEFAULT_WORKSPACE, newActions(Math.min(BATCH, count - made)))
}

/** One promotion, and as many claims as it takes to carry out as much as was promoted: what is due stays the same. */
export async function measureRound(ground: ClaimGround, cursors: Map<ClaimGround, string>): Promise<Round> {
  const { db } = ground
  await makeWaiting(db)
  const promotion = await sample(db, async () => {
    const { promoted } = await promoteActions(db, PROMOTION)
    if (promoted !== PROMOTION) throw new Error(`${promoted} of ${PROMOTION} waiting actions were promoted.`)
  })
  const claims: Sample[] = []
  for (let claimed = 0; claimed < PROMOTION; claimed += CLAIM) {
    const token = newId()
    claims.push(
      await sample(db, async () => {
        const cursor = cursors.get(ground) ?? FIRST_LANE
        const claim = await claimActions(db, { token, worker: 'bench', limit: CLAIM, leaseMs: LEASE_MS, cursor })
        if (claim.actions.length !== CLAIM) throw new Error(`${claim.actions.length} of ${CLAIM} actions were claimed.`)
        cursors.set(ground, claim.cursor)
      }),
    )
    await carryOut(db, token)
  }
  return { promotion, claims }
}

/** The plans of one promotion and one claim, as they are carried out on this ground. */
export async function explainRound({ db }: ClaimGround): Promise<{ promotion: string; claim: string }> {
  await makeWaiting(db)
  const promotion = await explain(db, (sql) => promoteActions(sql, PROMOTION))
  const token = newId()
  const request = { token, worker: 'bench', limit: CLAIM, leaseMs: LEASE_MS, cursor: FIRST_LANE }
  const claim = await explain(db, (sql) => claimActions(sql, request))
  await carryOut(db, token)
  return { promotion, claim }
}

async function sample(sql: Sql, work: () => Promise<void>): Promise<Sample> {
  const { result: ms, buffers } = await countBuffers(sql, async () => {
    const from = performance.now()
    await work()
    return performance.now() - from
  })
  return { ms, buffers }
}

/** Actions that wait and have fallen due: scheduled as if it were a minute ago, for half a minute ago. */
async function makeWaiting(sql: Sql): Promise<void> {
  const aMinuteAgo: Sql = { now: `(now() - interval '1 minute')`, query: (text, values) => sql.query(text, values) }
  await scheduleActions(aMinuteAgo, DEFAULT_WORKSPACE, newActions(PROMOTION, new Date(Date.now() - 30_000)))
}

async function carryOut(sql: Sql, token: string): Promise<void> {
  const { rows } = await sql.query<{ id: string }>(
    'select unnest(action_ids) as id from postrider.leases where token = $1',
    [token],
  )
  const ids = rows.map(({ id }) => id)
  await armActions(sql, heldUnder(token, ids))
  await settleActions(
    sql,
    settledUnder(
      token,
      ids.map((id) => ({ id, outcome: { kind: 'done' } })),
    ),
  )
  await dropLeases(sql, [token])
}
