import { describe, expect, it } from 'vitest'
import { resolveAction } from '../../src/db/actions.js'
import { armActions } from '../../src/db/arm-actions.js'
import { completeAction } from '../../src/db/complete-action.js'
import { renewLeases } from '../../src/db/leases.js'
import { rescueActions } from '../../src/db/rescue-actions.js'
import { settleActions } from '../../src/db/settle-actions.js'
import type { LeasedAction, Outcome } from '../../src/domain/action.js'
import { RETRY_POLICIES } from '../../src/domain/retry.js'
import { createLeaseKeeper } from '../../src/engine/lease-keeper.js'
import { createPerformer } from '../../src/engine/performer.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import { LEASE_MS, openKernel, silent } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { heldUnder, settledUnder } from '../support/held-under.js'

const reason = { code: 'why', text: 'because' }
const OUTCOMES: Outcome[] = [
  { kind: 'done' },
  { kind: 'retry', waitMs: 1_000, reason },
  { kind: 'failed', reason },
  { kind: 'skipped', reason },
  { kind: 'uncertain', reason },
  { kind: 'release' },
]

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const kernel = openKernel(kind)
  const rescue = () => rescueActions(kernel.db, 100)
  const arm = async (token: string, id: string) => (await armActions(kernel.db, heldUnder(token, [id]))).has(id)
  const settle = async (token: string, id: string, outcome: Outcome) =>
    (await settleActions(kernel.db, settledUnder(token, [{ id, outcome }]))).has(id)
  const complete = (action: LeasedAction) => kernel.db.transaction((tx) => completeAction(tx, action))

  const claimOne = async () => {
    await kernel.one()
    const { token, actions } = await kernel.claim()
    return { token, action: actions[0]!, id: actions[0]!.id }
  }

  /** Everything a worker could try to write under a token. */
  const tryEverything = async (token: string, action: LeasedAction) => {
    const before = await kernel.rows()
    expect(await arm(token, action.id)).toBe(false)
    expect(await complete({ ...action, leaseToken: token })).toBe(false)
    for (const outcome of OUTCOMES) expect(await settle(token, action.id, outcome), outcome.kind).toBe(false)
    expect(await kernel.rows()).toEqual(before)
  }

  // The embedded database has one session: nobody can hold a lock beside the rescuer.
  if (kind === 'PostgreSQL')
    it('looks behind leases it cannot bring back yet', async () => {
      const stuck = await claimOne()
      await kernel.shiftClock(10)
      const free = await claimOne()
      await kernel.shiftClock(LEASE_MS)
      await kernel.db.transaction(async (tx) => {
        await tx.query('select 1 from postrider.scheduled_actions where id = $1 for update', [stuck.id])
        const first = await rescueActions(kernel.db, 1)
        expect(first).toMatchObject({ leases: 0, pending: 0, next: { token: stuck.token } })
        const second = await rescueActions(kernel.db, 1, first.next!)
        expect(second).toMatchObject({ leases: 1, pending: 1, next: { token: free.token } })
        expect(await rescueActions(kernel.db, 1, second.next!)).toMatchObject({ leases: 0, next: null })
      })
      expect(await rescue()).toMatchObject({ leases: 1, pending: 1 })
    })

  it('is not written under the token of a neighbour: each has its own, whoever goes with it', async () => {
    const lost = await claimOne()
    await kernel.shiftClock(LEASE_MS + 1)
    await rescue()
    await kernel.promote()
    await kernel.one()
    const { token, ids } = await kernel.claim()
    expect(ids).toContain(lost.id)
    const other = ids.find((id) => id !== lost.id)!
    // The lost one is under the token by now that its neighbour is written with.
    const group = [
      { id: lost.id, leaseToken: lost.token },
      { id: other, leaseToken: token },
    ]
    expect(await armActions(kernel.db, group)).toEqual(new Set([other]))
    expect(await kernel.row(lost.id)).toMatchObject({ state: 'leased', lease_token: token })
    expect(await arm(token, lost.id)).toBe(true)
    for (const outcome of OUTCOMES.filter(({ kind: how }) => how !== 'skipped')) {
      const before = await kernel.row(lost.id)
      await settleActions(
        kernel.db,
        group.map((held) => ({ ...held, outcome })),
      )
      expect(await kernel.row(lost.id), outcome.kind).toEqual(before)
    }
  })

  it('is told so also when both of its holders, in one worker, write at the same moment', async () => {
    const lost = await claimOne()
    await kernel.shiftClock(LEASE_MS + 1)
    await rescue()
    await kernel.promote()
    const [held] = (await kernel.claim()).actions
    expect(held!.id).toBe(lost.id)
    const settled: string[] = []
    const leases = createLeaseKeeper({ db: kernel.db, leaseMs: LEASE_MS, log: silent })
    const performer = createPerformer({
      db: kernel.db,
      handlers: {},
      policies: RETRY_POLICIES,
      leases,
      log: silent,
      onSettled: ({ leaseToken }) => void settled.push(leaseToken),
    })
    // Asked for in one turn of the event loop, they go together.
    await Promise.all([lost.action, held!].map((action) => performer.release(action)))
    expect(settled).toEqual([held!.leaseToken])
    expect(await kernel.row(lost.id)).toMatchObject({ state: 'pending', lease_token: null })
    await leases.stop()
  })

  it('keeps what is renewed, and rescues it when it is not', async () => {
    const { token, id } = await claimOne()
    await kernel.shiftClock(LEASE_MS - 1_000)
    expect(await renewLeases(kernel.db, [token, newId()], LEASE_MS)).toEqual(new Set([token]))
    await kernel.shiftClock(LEASE_MS - 1_000)
    expect(await rescue()).toMatchObject({ leases: 0, pending: 0, uncertain: [] })
    await kernel.shiftClock(1_001)
    expect(await rescue()).toMatchObject({ leases: 1, pending: 1, uncertain: [] })
    expect(await kernel.row(id)).toMatchObject({ state: 'pending', attempts: 0, rescues: 1, lease_token: null })
    expect(await renewLeases(kernel.db, [token], LEASE_MS)).toEqual(new Set())
    expect(await rescue()).toMatchObject({ leases: 0, pending: 0, uncertain: [] })
    await kernel.promote()
    expect((await kernel.claim()).ids).toEqual([id])
  })

  it('suppresses nobody: the email is tried again, and fails with what its server says then', async () => {
    const address = `${newId()}@example.com`
    const suppressed = () => kernel.db.query('select 1 from postrider.suppressions where address = $1', [address])
    const refused: Outcome = {
      kind: 'failed',
      reason,
      suppress: { workspaceId: DEFAULT_WORKSPACE, address, detail: 'no' },
    }
    const { token, id } = await claimOne()
    await kernel.shiftClock(LEASE_MS + 1)
    await rescue()
    expect(await settle(token, id, refused)).toBe(false)
    expect((await suppressed()).rows).toEqual([])
    await kernel.promote()
    expect(await settle((await kernel.claim()).token, id, refused)).toBe(true)
    expect((await suppressed()).rows).toHaveLength(1)
  })

  it('makes what was armed uncertain, never pending', async () => {
    const { token, id } = await claimOne()
    expect(await arm(token, id)).toBe(true)
    await kernel.shiftClock(LEASE_MS + 1)
    expect(await rescue()).toMatchObject({ leases: 1, pending: 0, uncertain: [id] })
    expect(await kernel.row(id)).toMatchObject({
      state: 'uncertain',
      needs_attention: true,
      attempts: 1,
      rescues: 1,
      reason_code: 'lease_expired',
      lease_token: token,
      wake_at: null,
    })
    expect(await kernel.promote()).toBe(0)
    expect((await kernel.claim()).looked).toBe(0)
  })

  it('writes nothing under a token that is not the row’s', async () => {
    const { action, token } = await claimOne()
    await tryEverything(newId(), action)
    await arm(token, action.id)
    await tryEverything(newId(), action)
  })

  it('does not arm under a token that exists but holds something else', async () => {
    const first = await claimOne()
    const second = await claimOne()
    await tryEverything(second.token, first.action)
  })

  it('writes nothing after a rescue, nor after another worker has claimed it', async () => {
    const { token, action, id } = await claimOne()
    await kernel.shiftClock(LEASE_MS + 1)
    await rescue()
    await tryEverything(token, action)
    await kernel.promote()
    const other = await kernel.claim()
    expect(other.ids).toEqual([id])
    await tryEverything(token, action)
    expect(await arm(other.token, id)).toBe(true)
    await tryEverything(token, action)
    expect(await settle(other.token, id, { kind: 'done' })).toBe(true)
    await tryEverything(token, action)
    await tryEverything(other.token, action)
  })

  it('neither arms nor completes once the lease has run out, even before anybody rescued it', async () => {
    const { token, action, id } = await claimOne()
    await kernel.shiftClock(LEASE_MS + 1)
    expect(await arm(token, id)).toBe(false)
    expect(await complete(action)).toBe(false)
    expect(await kernel.row(id)).toMatchObject({ state: 'leased', lease_token: token })
  })

  it('neither arms nor completes what expired in the worker’s hands', async () => {
    const id = await kernel.one({ expiresAt: new Date(Date.now() + 10_000) })
    const { token, actions } = await kernel.claim()
    await kernel.shiftClock(10_001)
    expect(await arm(token, id)).toBe(false)
    expect(await complete(actions[0]!)).toBe(false)
  })

  const evidence: [Outcome, object][] = [
    [{ kind: 'done' }, { state: 'done', needs_attention: false, reason_code: null, lease_token: null }],
    [
      { kind: 'failed', reason },
      { state: 'failed', needs_attention: true, reason_code: 'why', lease_token: null },
    ],
    [
      { kind: 'retry', waitMs: 1_000, reason },
      { state: 'pending', needs_attention: false, reason_code: 'why' },
    ],
    [{ kind: 'release' }, { state: 'pending', needs_attention: false, lease_token: null }],
  ]
  it.each(evidence)('takes the late answer %j from the worker that had it, and no other', async (outcome, becomes) => {
    const { token, action, id } = await claimOne()
    await arm(token, id)
    await kernel.shiftClock(LEASE_MS + 1)
    await rescue()
    await tryEverything(newId(), action)
    expect(await arm(token, id)).toBe(false)
    expect(await settle(token, id, { kind: 'uncertain', reason })).toBe(false)
    expect(await settle(token, id, { kind: 'skipped', reason })).toBe(false)
    expect(await settle(token, id, outcome)).toBe(true)
    // The attempt was counted when it became uncertain, and is not counted again.
    expect(await kernel.row(id)).toMatchObject({ ...becomes, attempts: 1 })
    await tryEverything(token, action)
  })

  it.each(['done', 'again'] as const)('takes no late answer once a person has said %s', async (word) => {
    const { token, action, id } = await claimOne()
    await arm(token, id)
    await kernel.shiftClock(LEASE_MS + 1)
    await rescue()
    await resolveAction(kernel.db, DEFAULT_WORKSPACE, id, word)
    await tryEverything(token, action)
  })

  if (kind === 'PostgreSQL')
    it('does not wait for an action somebody has locked: the others are rescued now, that one later', async () => {
      await kernel.fill(newId(), 3)
      const { token, ids } = await kernel.claim()
      const locked = ids[1]!
      await kernel.shiftClock(LEASE_MS + 1)
      await kernel.db.transaction(async (tx) => {
        await tx.query('select from postrider.scheduled_actions where id = $1 for update', [locked])
        expect(await rescue()).toMatchObject({ leases: 0, pending: 2, uncertain: [] })
        expect(await kernel.row(locked)).toMatchObject({ state: 'leased', lease_token: token })
        expect(await rescue()).toMatchObject({ leases: 0, pending: 0, uncertain: [] })
      })
      expect(await rescue()).toMatchObject({ leases: 1, pending: 1, uncertain: [] })
      expect((await kernel.rows()).map(({ rescues }) => rescues)).toEqual([1, 1, 1])
      expect(await kernel.count('leases')).toBe(0)
    })

  it('lets what kills its workers wait longer from the sixth rescue on, and never gives it up', async () => {
    const id = await kernel.one()
    const waits: number[] = []
    for (let rescues = 0; rescues < 20; rescues++) {
      await kernel.promote()
      expect((await kernel.claim()).ids).toEqual([id])
      await kernel.shiftClock(LEASE_MS + 1)
      await rescue()
      const { rows } = await kernel.db.query<{ wait: number; same: boolean }>(
        `select round(extract(epoch from wake_at - state_at))::int as wait from postrider.scheduled_actions`,
      )
      waits.push(rows[0]!.wait)
      await kernel.shiftClock(rows[0]!.wait * 1_000)
    }
    expect(waits.slice(0, 5)).toEqual([0, 0, 0, 0, 0])
    expect(waits.slice(5)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, 600, 600, 600])
    expect(await kernel.row(id)).toMatchObject({ state: 'pending', attempts: 0, rescues: 20 })
  })
})
