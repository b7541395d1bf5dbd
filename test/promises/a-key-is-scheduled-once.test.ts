import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { joinTransaction } from '../../src/db/join-transaction.js'
import { scheduleActions } from '../../src/db/schedule-actions.js'
import { scheduleActions as scheduleInPages } from '../../src/operations/schedule-actions.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import { newAction, openKernel, silent } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const kernel = openKernel(kind)

  it('schedules none, one or many, each with a hint, and answers in the order asked', async () => {
    expect(await kernel.schedule([])).toEqual({ actions: [], scheduled: 0, duplicates: 0 })
    const laneId = newId()
    const keys = ['c', 'a', 'b']
    const { actions, scheduled } = await kernel.schedule(keys.map((dedupeKey) => newAction({ dedupeKey, laneId })))
    expect(scheduled).toBe(3)
    expect(actions.map(({ dedupeKey }) => dedupeKey)).toEqual(keys)
    const rows = await kernel.rows()
    expect(rows.map(({ state, wake_at }) => ({ state, wake_at }))).toEqual(
      Array.from({ length: 3 }, () => ({ state: 'pending', wake_at: null })),
    )
    expect(new Set((await kernel.claim()).ids)).toEqual(new Set(actions.map(({ id }) => id)))
  })

  it('finds duplicates within a call', async () => {
    const result = await kernel.schedule(['x', 'y', 'x', 'x'].map((dedupeKey) => newAction({ dedupeKey })))
    expect(result).toMatchObject({ scheduled: 2, duplicates: 2 })
    const [x, y, again, oncemore] = result.actions
    expect([again!.id, oncemore!.id]).toEqual([x!.id, x!.id])
    expect(y!.id).not.toBe(x!.id)
    expect(result.actions.filter(({ duplicate }) => duplicate)).toHaveLength(2)
    expect(await kernel.count('scheduled_actions')).toBe(2)
    expect(await kernel.claimAll()).toHaveLength(2)
  })

  it('returns the first action to whoever schedules its key again, whatever else they ask for', async () => {
    const id = await kernel.one({ dedupeKey: 'k', payload: { first: true } })
    const again = await kernel.schedule([newAction({ dedupeKey: 'k', payload: { first: false } })])
    expect(again).toEqual({ actions: [{ id, dedupeKey: 'k', duplicate: true }], scheduled: 0, duplicates: 1 })
    const { actions } = await kernel.claim()
    expect(actions.map(({ payload }) => payload)).toEqual([{ first: true }])
  })

  it('still knows the key when the action is over', async () => {
    const id = await kernel.one({ dedupeKey: 'k' })
    await kernel.db.query(`update postrider.scheduled_actions set state = 'done'`)
    expect((await kernel.schedule([newAction({ dedupeKey: 'k' })])).actions[0]).toMatchObject({ id, duplicate: true })
  })

  it('keeps the same key of two workspaces apart', async () => {
    const mine = await kernel.schedule([newAction({ dedupeKey: 'k' })], newId())
    const theirs = await kernel.schedule([newAction({ dedupeKey: 'k' })], newId())
    expect([mine.scheduled, theirs.scheduled]).toEqual([1, 1])
    expect(mine.actions[0]!.id).not.toBe(theirs.actions[0]!.id)
  })

  it('finds duplicates across the statements of one large call', async () => {
    const actions = Array.from({ length: 2_500 }, (_, i) => newAction({ dedupeKey: `k${i % 1_200}` }))
    const result = await scheduleInPages({ sql: kernel.db, log: silent }, DEFAULT_WORKSPACE, actions)
    expect(result).toMatchObject({ scheduled: 1_200, duplicates: 1_300 })
    const ids = new Map(result.actions.map(({ dedupeKey, id }) => [dedupeKey, id]))
    expect(result.actions.every(({ dedupeKey, id }) => ids.get(dedupeKey) === id)).toBe(true)
    expect(await kernel.count('scheduled_actions')).toBe(1_200)
  })

  it('gives 20 callers at once, with overlapping keys in different orders, one row per key and the same ids', async () => {
    const keys = Array.from({ length: 60 }, (_, i) => `key-${i}`)
    const turned = (by: number) => [...keys.slice(by), ...keys.slice(0, by)]
    const callers = Array.from({ length: 20 }, (_, i) => {
      const mine = i % 2 ? turned(i * 3).toReversed() : turned(i * 3)
      return kernel.schedule(mine.slice(0, 40).map((dedupeKey) => newAction({ dedupeKey })))
    })
    const results = await Promise.all(callers)
    const idsOfKey = new Map<string, Set<string>>()
    for (const { id, dedupeKey } of results.flatMap(({ actions }) => actions))
      idsOfKey.set(dedupeKey, (idsOfKey.get(dedupeKey) ?? new Set()).add(id))
    expect(idsOfKey.size).toBe(60)
    expect([...idsOfKey.values()].every((ids) => ids.size === 1)).toBe(true)
    expect(results.reduce((sum, { scheduled }) => sum + scheduled, 0)).toBe(60)
    expect(await kernel.count('scheduled_actions')).toBe(60)
    expect(await kernel.claimAll()).toHaveLength(60)
  })

  if (kind === 'PostgreSQL')
    it('does not deadlock, however long and opposite the lists of those who schedule at once', async () => {
      const laneId = newId()
      for (let round = 0; round < 4; round++) {
        const list = Array.from({ length: 1_000 }, (_, i) => newAction({ laneId, dedupeKey: `${round}-${i}` }))
        const callers = [list, list.toReversed(), list, list.toReversed()]
        const results = await Promise.all(callers.map((actions) => kernel.schedule(actions)))
        expect(results.reduce((sum, { scheduled }) => sum + scheduled, 0)).toBe(1_000)
      }
    })

  it('exists if and only if the transaction of its caller does', async () => {
    const laneId = newId()
    const attempt = kernel.db.transaction(async (tx) => {
      await scheduleActions(tx, DEFAULT_WORKSPACE, [newAction({ laneId, dedupeKey: 'k' })])
      throw new Error('the caller changed its mind')
    })
    await expect(attempt).rejects.toThrow('changed its mind')
    expect([await kernel.count('scheduled_actions'), await kernel.count('ready_actions')]).toEqual([0, 0])

    await kernel.db.transaction((tx) => scheduleActions(tx, DEFAULT_WORKSPACE, [newAction({ laneId, dedupeKey: 'k' })]))
    expect([await kernel.count('scheduled_actions'), await kernel.count('ready_actions')]).toEqual([1, 1])
    expect((await kernel.claim()).actions).toHaveLength(1)
  })

  if (kind === 'PostgreSQL')
    it("runs in a transaction on the caller's own client", async () => {
      const client = new pg.Client((kernel.location as { databaseUrl: string }).databaseUrl)
      await client.connect()
      try {
        for (const end of ['rollback', 'commit']) {
          await client.query('begin')
          await scheduleActions(joinTransaction(client), DEFAULT_WORKSPACE, [newAction()])
          // Nobody else sees it before the end, and nobody has to wait for it.
          expect((await kernel.claim()).looked).toBe(0)
          await client.query(end)
          expect((await kernel.claim()).looked).toBe(end === 'commit' ? 1 : 0)
        }
      } finally {
        await client.end()
      }
    })

  it('waits for its time, by the clock of the database, and is due right after', async () => {
    const id = await kernel.one({ runAt: new Date(Date.now() + 3_600_000) })
    expect((await kernel.row(id)).wake_at).toEqual((await kernel.row(id)).run_at)
    await kernel.shiftClock(3_590_000)
    expect(await kernel.promote()).toBe(0)
    expect((await kernel.claim()).looked).toBe(0)
    await kernel.shiftClock(11_000)
    expect(await kernel.promote()).toBe(1)
    expect((await kernel.claim()).ids).toEqual([id])
    expect(await kernel.promote()).toBe(0)
  })
})
