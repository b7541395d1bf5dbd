import { describe, expect, it } from 'vitest'
import { armActions } from '../../src/db/arm-actions.js'
import { cancelActions } from '../../src/db/cancel-actions.js'
import { claimActions, FIRST_LANE } from '../../src/db/claim-actions.js'
import { claimDueActions } from '../../src/db/claim-due-actions.js'
import { completeAction } from '../../src/db/complete-action.js'
import { cancelLane, pauseLane, resumeLane } from '../../src/db/lanes.js'
import { renewLeases } from '../../src/db/leases.js'
import { settleActions } from '../../src/db/settle-actions.js'
import type { LeasedAction } from '../../src/domain/action.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import { heldUnder, settledUnder } from '../support/held-under.js'
import { newAction, openKernel, until } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const kernel = openKernel(kind)
  const cancel = (ids: string[]) => cancelActions(kernel.db, DEFAULT_WORKSPACE, { ids }, 'no longer wanted')

  it('gives out a lane in the order its actions fell due, within a claim and from claim to claim', async () => {
    const laneId = newId()
    // Written in the wrong order, in two calls, so that neither ids nor hints give the order away.
    const ages = [3, 9, 1, 7, 5]
    for (const some of [ages.slice(0, 3), ages.slice(3)])
      await kernel.schedule(some.map((age) => newAction({ laneId, runAt: minutesAgo(age), payload: { age } })))
    const first = (await kernel.schedule([newAction({ laneId, runAt: minutesAgo(20), payload: { age: 20 } })])).actions
    expect((await kernel.claim({ limit: 1 })).ids).toEqual([first[0]!.id])
    const claimed = (await kernel.claim({ limit: 5 })).actions.map(({ payload }) => (payload as { age: number }).age)
    expect(claimed).toEqual([9, 7, 5, 3, 1])
  })

  it('stamps lease and token, and says how long it was due', async () => {
    const id = await kernel.one({ runAt: minutesAgo(2) })
    const { token, actions } = await kernel.claim({ worker: 'w1', leaseMs: 30_000 })
    expect(actions[0]).toMatchObject({ id, leaseToken: token, attempts: 0 })
    expect(actions[0]!.lagMs).toBeGreaterThanOrEqual(120_000)
    expect(await kernel.row(id)).toMatchObject({ state: 'leased', lease_token: token, attempts: 0 })
    const { rows } = await kernel.db.query(
      `select token, worker, action_ids, extract(epoch from expires_at - leased_at)::int as seconds from postrider.leases`,
    )
    expect(rows).toEqual([{ token, worker: 'w1', action_ids: [id], seconds: 30 }])
  })

  it('makes no lease when it leases nothing', async () => {
    expect(await kernel.claim()).toMatchObject({ actions: [], looked: 0 })
    expect(await kernel.count('leases')).toBe(0)
  })

  it('never takes more than asked for, and puts the rest of a hint back: all come, each once', async () => {
    const lanes = [newId(), newId(), newId()]
    for (const [i, laneId] of lanes.entries()) await kernel.fill(laneId, [250, 101, 7][i]!)
    const seen: string[] = []
    for (const limit of [1, 2, 7, 33, 99, 100, 101, 150, 1_000, 1_000, 1_000]) {
      const { ids } = await kernel.claim({ limit })
      expect(ids.length).toBeLessThanOrEqual(limit)
      seen.push(...ids)
    }
    expect(seen).toHaveLength(358)
    expect(new Set(seen).size).toBe(358)
    expect(await kernel.count('ready_actions')).toBe(0)
  })

  it('lets claims run at once without overlap, and misses nothing', async () => {
    const lanes = [newId(), newId()]
    for (const laneId of lanes) await kernel.fill(laneId, 1_000)
    const seen: string[] = []
    const worker = async () => {
      // Looked 0 may mean that others hold the hints right now; only an empty table is the end.
      while ((await kernel.count('ready_actions')) > 0) seen.push(...(await kernel.claim({ limit: 60 })).ids)
    }
    await Promise.all([worker(), worker(), worker(), worker()])
    expect(seen).toHaveLength(2_000)
    expect(new Set(seen).size).toBe(2_000)
  })

  if (kind === 'PostgreSQL')
    it('passes over what another claim is just taking, instead of waiting for it', async () => {
      const laneId = newId()
      const [first, second] = [await kernel.one({ laneId }), await kernel.one({ laneId })]
      const request = { worker: 'slow', limit: 1, leaseMs: 60_000, cursor: FIRST_LANE }
      await kernel.db.transaction(async (tx) => {
        const { actions } = await claimActions(tx, { ...request, token: newId() })
        expect(actions.map(({ id }) => id)).toEqual([first])
        const claimed: string[] = []
        void kernel.claim().then(({ ids }) => claimed.push(...ids))
        await until('the other claim is over', () => claimed.length > 0)
        expect(claimed).toEqual([second])
      })
    })

  it('loses nothing that is scheduled while others claim', async () => {
    const laneId = newId()
    const claimed: string[] = []
    let scheduling = true
    const claimer = async () => {
      while (scheduling) {
        await kernel.promote()
        claimed.push(...(await kernel.claim({ limit: 10 })).ids)
      }
    }
    const scheduler = async () => {
      for (let i = 0; i < (kind === 'PostgreSQL' ? 200 : 50); i++) await kernel.one({ laneId })
    }
    const claiming = [claimer(), claimer()]
    await Promise.all([scheduler(), scheduler(), scheduler()])
    scheduling = false
    await Promise.all(claiming)
    await kernel.promote()
    claimed.push(...(await kernel.claimAll()).map(({ id }) => id))
    expect(claimed.toSorted()).toEqual((await kernel.rows()).map(({ id }) => id))
  })

  it('loses nothing when the clock goes back: what was due waits until it is due again', async () => {
    const id = await kernel.one()
    await kernel.shiftClock(-60_000)
    expect(await kernel.claim()).toMatchObject({ actions: [], early: 1 })
    expect(await kernel.row(id)).toMatchObject({ state: 'pending', lease_token: null })
    expect(await kernel.promote()).toBe(0)
    await kernel.shiftClock(60_001)
    expect(await kernel.promote()).toBe(1)
    expect((await kernel.claim()).ids).toEqual([id])
  })

  it('does not hand out early what was moved to later while its hint was out', async () => {
    const id = await kernel.one()
    await kernel.db.query(
      `update postrider.scheduled_actions set run_at = run_at + interval '1 hour', wake_at = run_at + interval '1 hour'`,
    )
    expect((await kernel.claim()).ids).toEqual([])
    expect(await kernel.row(id)).toMatchObject({ state: 'pending' })
    await kernel.shiftClock(3_600_001)
    await kernel.promote()
    expect((await kernel.claim()).ids).toEqual([id])
  })

  it('leases what has both a stale hint and a time to wake that has come', async () => {
    const id = await kernel.one()
    await kernel.db.query(`update postrider.scheduled_actions set wake_at = run_at`)
    expect((await kernel.claim()).ids).toEqual([id])
    expect(await kernel.promote()).toBe(0)
  })

  describe('as it falls due, without a hint', () => {
    const inAMoment = () => new Date(Date.now() + 60_000)
    const later = (overrides = {}) => kernel.one({ runAt: inAMoment(), ...overrides })

    it('is leased once, and nothing is left of it but the lease', async () => {
      const ids = [await later(), await later(), await later({ runAt: new Date(Date.now() + 120_000) })]
      expect(await kernel.claimDue()).toMatchObject({ actions: [], due: 0 })
      await kernel.shiftClock(60_001)
      const { token, actions, due, nextInMs } = await kernel.claimDue()
      expect(actions.map(({ id }) => id).toSorted()).toEqual(ids.slice(0, 2).toSorted())
      expect(due).toBe(2)
      expect(nextInMs).toBeGreaterThan(50_000)
      expect(nextInMs).toBeLessThanOrEqual(60_000)
      expect(actions[0]).toMatchObject({ leaseToken: token, attempts: 0, priority: 0 })
      expect(await kernel.row(ids[0]!)).toMatchObject({ state: 'leased', lease_token: token, wake_at: null })
      expect(await kernel.count('ready_actions')).toBe(0)
      expect(await kernel.claimDue()).toMatchObject({ actions: [], due: 0 })
      expect(await kernel.promote()).toBe(0)
    })

    it('is taken in the order it fell due, and no more of it than asked for', async () => {
      const ages = [3, 9, 1, 7, 5]
      await kernel.schedule(
        ages.map((age) => newAction({ runAt: new Date(Date.now() + 60_000 - age), payload: { age } })),
      )
      await kernel.shiftClock(60_001)
      const taken = async (limit: number) => {
        const { actions, due } = await kernel.claimDue({ limit })
        expect(due).toBe(Math.min(limit, actions.length))
        return actions.map(({ payload }) => (payload as { age: number }).age).toSorted((a, b) => b - a)
      }
      expect([await taken(2), await taken(2), await taken(2)]).toEqual([[9, 7], [5, 3], [1]])
    })

    it('waits with a hint in a lane that is held, and comes when the lane opens', async () => {
      const laneId = newId()
      const id = await later({ laneId })
      const other = await later()
      await pauseLane(kernel.db, DEFAULT_WORKSPACE, laneId)
      await kernel.shiftClock(60_001)
      const { ids, due, looked } = await kernel.claimDue()
      expect({ ids, due, looked }).toEqual({ ids: [other], due: 2, looked: 1 })
      expect(await kernel.row(id)).toMatchObject({ state: 'pending', wake_at: null, lease_token: null })
      expect((await kernel.claim()).ids).toEqual([])
      await resumeLane(kernel.db, DEFAULT_WORKSPACE, laneId)
      expect((await kernel.claim()).ids).toEqual([id])
    })

    it('gets its own state where it is over', async () => {
      const laneId = newId()
      const late = await later({ expiresAt: new Date(Date.now() + 60_000) })
      const stopped = await later({ laneId })
      await cancelLane(kernel.db, DEFAULT_WORKSPACE, laneId)
      await kernel.shiftClock(60_001)
      expect(await kernel.claimDue()).toMatchObject({ actions: [], canceled: 1, expired: 1, due: 2 })
      expect(await kernel.row(late)).toMatchObject({ state: 'expired', wake_at: null })
      expect(await kernel.row(stopped)).toMatchObject({ state: 'canceled', wake_at: null })
      expect(await kernel.count('leases')).toBe(0)
    })

    it('is taken ahead of its time by who asks for that, in the order it falls due, and said so', async () => {
      const at = Date.now() + 60_000
      const { actions } = await kernel.schedule(
        [0, 500, 900, 5_000].map((after) => newAction({ runAt: new Date(at + after) })),
      )
      const ids = actions.map(({ id }) => id)
      await kernel.shiftClock(50_000)
      expect(await kernel.claimDue()).toMatchObject({ actions: [], due: 0 })
      const first = await kernel.claimDue({ limit: 2, leadMs: 13_000 })
      expect(first.ids).toEqual(ids.slice(0, 2))
      const dueInMs = first.actions.map(({ lagMs }) => -lagMs)
      expect(dueInMs[0]).toBeGreaterThan(0)
      expect(dueInMs[1]! - dueInMs[0]!).toBeGreaterThan(490)
      // A full page: the next one may be due as early as its last, counted from the question.
      expect(first.nextInMs).toBeGreaterThanOrEqual(dueInMs[1]!)
      expect(first.nextInMs).toBeLessThanOrEqual(10_500)
      const second = await kernel.claimDue({ limit: 2, leadMs: 13_000 })
      expect(second.ids).toEqual([ids[2]])
      expect(second.nextInMs).toBeGreaterThan(13_000)
      expect(second.nextInMs).toBeLessThanOrEqual(15_000)
    })

    it('is not taken ahead of its time when it was due before and waits for something else', async () => {
      const waiting = await kernel.one()
      await kernel.db.query(
        `update postrider.scheduled_actions set wake_at = ${kernel.db.now} + interval '50 seconds' where id = $1`,
        [waiting],
      )
      await kernel.db.query('delete from postrider.ready_actions')
      const id = await later()
      const { ids, nextInMs } = await kernel.claimDue({ leadMs: 120_000 })
      expect(ids).toEqual([id])
      expect(nextInMs).toBeGreaterThan(0)
      expect(nextInMs).toBeLessThanOrEqual(50_000)
      await kernel.shiftClock(50_001)
      expect((await kernel.claimDue({ leadMs: 120_000 })).ids).toEqual([waiting])
    })

    it('is not carried out before its time, whatever a clock says that is not the database’s', async () => {
      const [armed, completed] = [await later(), await later()]
      const { token, ids } = await kernel.claimDue({ leadMs: 120_000 })
      expect(ids.toSorted()).toEqual([armed, completed].toSorted())
      const arm = () => armActions(kernel.db, heldUnder(token, [armed]))
      const complete = () =>
        kernel.db.transaction((tx) => completeAction(tx, { id: completed, leaseToken: token } as LeasedAction))
      expect((await arm()).size).toBe(0)
      expect(await complete()).toBe(false)
      expect((await kernel.rows()).map(({ state }) => state)).toEqual(['leased', 'leased'])
      await kernel.shiftClock(30_000)
      await renewLeases(kernel.db, [token], 60_000)
      expect((await arm()).size).toBe(0)
      await kernel.shiftClock(60_001)
      await renewLeases(kernel.db, [token], 60_000)
      expect(await arm()).toEqual(new Set([armed]))
      expect(await complete()).toBe(true)
    })

    it('waits for its time again when it is given back before, and gets no hint that leads to nothing', async () => {
      const id = await later()
      const { run_at } = await kernel.row(id)
      const { token } = await kernel.claimDue({ leadMs: 120_000 })
      await settleActions(kernel.db, settledUnder(token, [{ id, outcome: { kind: 'release' } }]))
      expect(await kernel.claimDue()).toMatchObject({ actions: [], due: 1, early: 1 })
      expect(await kernel.row(id)).toMatchObject({ state: 'pending', run_at, wake_at: run_at })
      await kernel.shiftClock(60_001)
      expect((await kernel.claimDue()).ids).toEqual([id])
    })

    it('is taken by one of many who look at once, each by one', async () => {
      await kernel.schedule(Array.from({ length: 500 }, () => newAction({ runAt: inAMoment() })))
      await kernel.shiftClock(60_001)
      const seen: string[] = []
      const worker = async () => {
        for (let over = false; !over;) {
          const { ids, due } = await kernel.claimDue({ limit: 32 })
          seen.push(...ids)
          over = due === 0 && seen.length === 500
        }
      }
      await Promise.all([worker(), worker(), worker()])
      expect(new Set(seen).size).toBe(500)
      expect(seen).toHaveLength(500)
    })

    if (kind === 'PostgreSQL')
      it('is passed over while another claim is just taking it', async () => {
        await later()
        await kernel.shiftClock(60_001)
        await kernel.db.transaction(async (tx) => {
          const { actions } = await claimDueActions(tx, {
            token: newId(),
            worker: 'slow',
            limit: 8,
            leaseMs: 60_000,
            leadMs: 0,
          })
          expect(actions).toHaveLength(1)
          expect(await kernel.claimDue()).toMatchObject({ actions: [], due: 0 })
        })
      })
  })

  it('gives what is over its own state instead of a lease', async () => {
    const laneId = newId()
    const late = await kernel.one({ expiresAt: minutesAgo(1) })
    const inTime = await kernel.one({ expiresAt: new Date(Date.now() + 60_000) })
    const stopped = await kernel.one({ laneId })
    await cancelLane(kernel.db, DEFAULT_WORKSPACE, laneId)
    const { ids, canceled, expired } = await kernel.claim()
    expect({ ids, canceled, expired }).toEqual({ ids: [inTime], canceled: 1, expired: 1 })
    expect(await kernel.row(late)).toMatchObject({ state: 'expired', reason_code: 'expired', lease_token: null })
    expect(await kernel.row(stopped)).toMatchObject({ state: 'canceled', reason_code: 'lane_canceled' })
    expect((await kernel.claim()).looked).toBe(0)
  })

  it('drops hints of what is no longer wanted without holding up what is behind them', async () => {
    const laneId = newId()
    const many = await kernel.schedule(Array.from({ length: 250 }, () => newAction({ laneId })))
    const behind = await kernel.one({ laneId })
    await cancel(many.actions.map(({ id }) => id))
    const claims = []
    for (let looked = 1; looked > 0; claims.push(looked)) ({ looked } = await kernel.claim({ limit: 100 }))
    expect(claims).toEqual([100, 100, 51, 0])
    expect(await kernel.row(behind)).toMatchObject({ state: 'leased' })
    expect((await kernel.rows()).filter(({ state }) => state === 'canceled')).toHaveLength(250)
  })

  it('looks past any number of paused lanes for one that is open', async () => {
    const paused = Array.from({ length: 25 }, () => newId())
    await kernel.schedule(paused.map((laneId) => newAction({ laneId })))
    await kernel.db.query(
      `insert into postrider.lanes (id, workspace_id, weight, priority, paused_at) select unnest($2::uuid[]), $1, 1, 0, now()`,
      [DEFAULT_WORKSPACE, paused],
    )
    // The walk goes downwards, so this lane is the last it comes to.
    const open = await kernel.one({ laneId: '00000000-0000-7000-8000-00000000000a' })
    expect((await kernel.claimAll(10)).map(({ id }) => id)).toEqual([open])
  })
})
