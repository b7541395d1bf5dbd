import { describe, expect, it } from 'vitest'
import { completeAction, repeatAction } from '../../src/db/complete-action.js'
import { rescueActions } from '../../src/db/rescue-actions.js'
import { scheduleActions } from '../../src/db/schedule-actions.js'
import { createDispatcher } from '../../src/engine/dispatcher.js'
import type { EffectHandler } from '../../src/engine/handler.js'
import { RETRY_POLICIES } from '../../src/domain/retry.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import { newAction, openKernel, silent } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const kernel = openKernel(kind)

  const work = async (apply: EffectHandler['apply']) => {
    const dispatcher = createDispatcher({
      db: kernel.db,
      log: silent,
      policies: RETRY_POLICIES,
      worker: 'tests',
      leaseMs: 60_000,
      concurrency: 5,
      handlers: { turn: { kind: 'effect', retryPolicy: 'standard', apply } },
    })
    await dispatcher.drain()
    await dispatcher.stop()
  }

  it('as the same row, once per turn, until it says that it is done', async () => {
    const id = await kernel.one({ type: 'turn', dedupeKey: 'the turn' })
    let turns = 0
    await work(async (_, tx) => {
      turns++
      await tx.query(`insert into postrider.workspaces (id, name) values (gen_random_uuid(), $1)`, [`turn ${turns}`])
      return turns < 4 ? { kind: 'again', waitMs: 0 } : { kind: 'done' }
    })
    expect(turns).toBe(4)
    expect(await kernel.rows()).toMatchObject([{ id, state: 'done', attempts: 1, wake_at: null }])
    const { rowCount } = await kernel.db.query(`delete from postrider.workspaces where name like 'turn %'`)
    expect(rowCount).toBe(4)
  })

  it('when it waits, and not before', async () => {
    const id = await kernel.one({ type: 'turn' })
    let turns = 0
    const turn: EffectHandler['apply'] = async () => {
      turns++
      return { kind: 'again', waitMs: 60_000 }
    }
    await work(turn)
    expect(turns).toBe(1)
    expect(await kernel.row(id)).toMatchObject({ state: 'pending', attempts: 0, lease_token: null })
    await kernel.shiftClock(61_000)
    await work(turn)
    expect(turns).toBe(2)
  })

  it('before what waits in its lane, though that was written earlier and is due at the same instant', async () => {
    const laneId = newId()
    const id = await kernel.one({ type: 'turn', laneId })
    for (let turn = 0; turn < 3; turn++) {
      const { actions } = await kernel.claim({ limit: 1 })
      expect(actions.map((action) => action.id)).toEqual([id])
      await kernel.db.transaction(async (tx) => {
        await completeAction(tx, actions[0]!)
        const planned = Array.from({ length: 250 }, () => newAction({ laneId }))
        await scheduleActions(tx, DEFAULT_WORKSPACE, planned)
        await repeatAction(tx, id, 0)
      })
      await kernel.promote()
    }
  })

  it('without waiting longer for every worker that ever died with it: a turn that ended says it was not to blame', async () => {
    const id = await kernel.one({ type: 'turn' })
    for (let life = 0; life < 12; life++) {
      // A worker claims it and dies; another brings it back, and carries out a turn.
      expect((await kernel.claim()).ids).toEqual([id])
      await kernel.shiftClock(120_000)
      await rescueActions(kernel.db, 10)
      expect(await kernel.row(id)).toMatchObject({ state: 'pending', rescues: 1 })
      await work(() => Promise.resolve({ kind: 'again', waitMs: 1_000 }))
      expect(await kernel.row(id)).toMatchObject({ state: 'pending', rescues: 0 })
      await kernel.shiftClock(2_000)
      await kernel.promote()
    }
  })

  it('with what it wrote, or not at all: a turn that fails leaves nothing and is tried again', async () => {
    const id = await kernel.one({ type: 'turn' })
    let fail = true
    const turn: EffectHandler['apply'] = async (_, tx) => {
      await tx.query(`insert into postrider.workspaces (id, name) values (gen_random_uuid(), 'written')`)
      if (fail) throw new Error('in the middle')
      return { kind: 'done' }
    }
    await work(turn)
    const written = () => kernel.db.query(`select 1 from postrider.workspaces where name = 'written'`)
    expect((await written()).rowCount).toBe(0)
    expect(await kernel.row(id)).toMatchObject({ state: 'pending', attempts: 1, reason_code: 'handler_error' })
    fail = false
    await kernel.shiftClock(61_000)
    await work(turn)
    expect((await written()).rowCount).toBe(1)
    await kernel.db.query(`delete from postrider.workspaces where name = 'written'`)
  })
})
