import { describe, expect, it } from 'vitest'
import { armActions } from '../../src/db/arm-actions.js'
import { completeAction } from '../../src/db/complete-action.js'
import { cancelLane, holdLane, holdLaneWith, pauseLane, resumeLane } from '../../src/db/lanes.js'
import { settleActions } from '../../src/db/settle-actions.js'
import { rebuild } from '../../src/engine/rescuer.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import { newAction, openKernel } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { heldUnder, settledUnder } from '../support/held-under.js'

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const kernel = openKernel(kind)
  const pause = (laneId: string) => pauseLane(kernel.db, DEFAULT_WORKSPACE, laneId)
  const resume = (laneId: string) => resumeLane(kernel.db, DEFAULT_WORKSPACE, laneId)
  const cancel = (laneId: string) => cancelLane(kernel.db, DEFAULT_WORKSPACE, laneId)
  const states = async () => (await kernel.rows()).map(({ state }) => state)

  it('claims nothing from it, and everything once it is resumed', async () => {
    const laneId = newId()
    await kernel.fill(laneId, 5)
    expect(await pause(laneId)).toEqual({ paused: true, canceled: false })
    expect((await kernel.claim()).looked).toBe(0)
    await kernel.fill(laneId, 2)
    expect(await kernel.claimAll()).toEqual([])
    expect(await resume(laneId)).toEqual({ paused: false, canceled: false })
    expect(await kernel.claimAll()).toHaveLength(7)
  })

  it('arms and completes nothing that was claimed before the pause', async () => {
    const laneId = newId()
    await kernel.fill(laneId, 2)
    const { token, ids, actions } = await kernel.claim()
    await pause(laneId)
    expect(await armActions(kernel.db, heldUnder(token, ids))).toEqual(new Set())
    expect(await kernel.db.transaction((tx) => completeAction(tx, actions[0]!))).toBe(false)
    expect(await states()).toEqual(['leased', 'leased'])

    await settleActions(
      kernel.db,
      settledUnder(
        token,
        ids.map((id) => ({ id, outcome: { kind: 'release' } })),
      ),
    )
    await kernel.promote()
    expect((await kernel.claim()).looked).toBe(0)
    await resume(laneId)
    const again = await kernel.claim()
    expect(again.ids.toSorted()).toEqual(ids.toSorted())
    expect(await armActions(kernel.db, heldUnder(again.token, again.ids))).toEqual(new Set(ids))
  })

  it('stands still with the lane it is held with: paused or held back, claimed or not', async () => {
    const [laneId, holder] = [newId(), newId()]
    await holdLaneWith(kernel.db, DEFAULT_WORKSPACE, laneId, holder)
    await kernel.fill(laneId, 3)
    const { token, ids, actions } = await kernel.claim({ limit: 2 })
    await pause(holder)
    expect((await kernel.claim()).looked).toBe(0)
    expect(await armActions(kernel.db, heldUnder(token, ids))).toEqual(new Set())
    expect(await kernel.db.transaction((tx) => completeAction(tx, actions[0]!))).toBe(false)
    await resume(holder)
    expect(await armActions(kernel.db, heldUnder(token, ids))).toEqual(new Set(ids))
    await holdLane(kernel.db, DEFAULT_WORKSPACE, holder, 60_000)
    expect((await kernel.claim()).looked).toBe(0)
    await kernel.shiftClock(61_000)
    expect((await kernel.claim()).ids).toHaveLength(1)
    // Its own pause is its own: the holder's end does not lift it.
    await kernel.fill(laneId, 1)
    await pause(laneId)
    await resume(holder)
    expect((await kernel.claim()).looked).toBe(0)
  })

  it('lets what was armed before the pause be settled', async () => {
    const laneId = newId()
    await kernel.fill(laneId, 1)
    const { token, ids } = await kernel.claim()
    await armActions(kernel.db, heldUnder(token, ids))
    await pause(laneId)
    await settleActions(kernel.db, settledUnder(token, [{ id: ids[0]!, outcome: { kind: 'done' } }]))
    expect(await states()).toEqual(['done'])
  })

  it('does not disturb another lane', async () => {
    const [still, moving] = [newId(), newId()]
    await kernel.fill(still, 3)
    await kernel.fill(moving, 3)
    const { token, actions } = await kernel.claim({ limit: 4 })
    await pause(still)
    const armed = await armActions(
      kernel.db,
      heldUnder(
        token,
        actions.map(({ id }) => id),
      ),
    )
    expect(armed).toEqual(new Set(actions.filter(({ laneId }) => laneId === moving).map(({ id }) => id)))
    expect((await kernel.claimAll()).map(({ laneId }) => laneId)).toEqual([moving])
  })

  it('is paused and canceled by writing one row, however many actions it has', async () => {
    const laneId = newId()
    await kernel.fill(laneId, 2_000)
    // Which transaction wrote each row last: a row that was touched has another.
    const marks = async () =>
      (
        await kernel.db.query(
          `select id::text, xmin::text from postrider.scheduled_actions
           union all select position::text, xmin::text from postrider.ready_actions order by 1`,
        )
      ).rows
    const before = await marks()
    await pause(laneId)
    await cancel(laneId)
    expect(await marks()).toEqual(before)
    expect(await kernel.count('lanes')).toBe(1)
    expect(new Set(await states())).toEqual(new Set(['pending']))
  })

  it('once canceled, ends what waits: claimed or not, due or not, and what is scheduled later', async () => {
    const laneId = newId()
    const other = await kernel.one()
    const held = await kernel.one({ laneId })
    const armed = await kernel.one({ laneId })
    const claim = await kernel.claim()
    await armActions(kernel.db, heldUnder(claim.token, [armed]))
    const due = await kernel.one({ laneId })
    const future = await kernel.one({ laneId, runAt: new Date(Date.now() + 86_400_000) })
    expect(await cancel(laneId)).toEqual({ paused: false, canceled: true })
    expect(await armActions(kernel.db, heldUnder(claim.token, [held, other]))).toEqual(new Set([other]))

    expect(await rebuild(kernel.db)).toMatchObject({ canceled: 3 })
    for (const id of [held, due, future])
      expect(await kernel.row(id)).toMatchObject({
        state: 'canceled',
        wake_at: null,
        lease_token: null,
        reason_code: 'lane_canceled',
      })
    // What may be on the wire is left to its worker.
    expect(await kernel.row(armed)).toMatchObject({ state: 'armed' })
    expect(await rebuild(kernel.db)).toMatchObject({ canceled: 0 })

    const late = await kernel.one({ laneId })
    expect(await kernel.claim()).toMatchObject({ actions: [], canceled: 1 })
    expect(await kernel.row(late)).toMatchObject({ state: 'canceled', reason_code: 'lane_canceled' })
    expect(await kernel.row(other)).toMatchObject({ state: 'armed' })
  })

  it('sweeps a canceled lane of several pages, and stays canceled when it is resumed or paused', async () => {
    const laneId = newId()
    await kernel.fill(laneId, 2_100)
    await cancel(laneId)
    expect(await resume(laneId)).toEqual({ paused: false, canceled: true })
    expect(await pause(laneId)).toEqual({ paused: true, canceled: true })
    expect(await rebuild(kernel.db)).toMatchObject({ canceled: 2_100 })
    await kernel.schedule([newAction({ laneId })])
    // The hints of what was swept are looked at and dropped; what came later is canceled on the way.
    expect(await kernel.claimAll(1_000)).toEqual([])
    expect(new Set(await states())).toEqual(new Set(['canceled']))
    expect(await kernel.count('ready_actions')).toBe(0)
  })

  it('belongs to its workspace: another one cannot pause it', async () => {
    const laneId = newId()
    await pause(laneId)
    await resume(laneId)
    await kernel.fill(laneId, 1)
    await expect(pauseLane(kernel.db, newId(), laneId)).rejects.toMatchObject({ code: 'lane_not_found' })
    expect((await kernel.claim()).actions).toHaveLength(1)
  })
})
