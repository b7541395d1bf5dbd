import { describe, expect, it } from 'vitest'
import { newId } from '../../src/id.js'
import { configureLane, pauseLane } from '../../src/db/lanes.js'
import { DEFAULT_WORKSPACE } from '../../src/id.js'
import { newAction, openKernel } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { createDispatcher } from '../../src/engine/dispatcher.js'
import { RETRY_POLICIES } from '../../src/domain/retry.js'
import { silent } from '../support/kernel.js'

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const kernel = openKernel(kind)
  it('clock back', async () => {
    const id = await kernel.one()
    await kernel.shiftClock(-50)
    expect((await kernel.claim()).ids).toEqual([])
    await kernel.shiftClock(1000)
    await kernel.promote()
    expect((await kernel.claim()).ids).toEqual([id])
  })
  it('race', async () => {
    if (kind !== 'PostgreSQL') return
    let stop = false
    const claimer = async () => { while (!stop) await kernel.claim({ limit: 10 }) }
    const cs = [claimer(), claimer()]
    const lane = newId()
    const s = async () => { for (let i = 0; i < 1500; i++) await kernel.one({ laneId: lane }) }
    await Promise.all([s(), s(), s()])
    stop = true
    await Promise.all(cs)
    await kernel.claimAll()
    const { rows } = await kernel.db.query<any>(`select count(*)::int as n from postrider.scheduled_actions a where state='pending' and wake_at is null and not exists (select 1 from postrider.ready_actions where a.id = any(action_ids))`)
    console.log('LOST', rows[0].n)
  })
  it('starve', async () => {
    const lanes = Array.from({ length: 10 }, () => newId()).sort()
    for (const l of lanes) { await configureLane(kernel.db, DEFAULT_WORKSPACE, l, { weight: 1, priority: 0 }); await kernel.fill(l, 300) }
    await configureLane(kernel.db, DEFAULT_WORKSPACE, lanes[9]!, { weight: 10, priority: 0 })
    const seen = new Map<string, number>()
    let cursor = '00000000-0000-0000-0000-000000000000'
    for (let i = 0; i < 30; i++) { const c = await kernel.claim({ limit: 10, cursor }); cursor = c.cursor; for (const a of c.actions) seen.set(a.laneId, (seen.get(a.laneId) ?? 0) + 1) }
    console.log(kind, lanes.map((l) => seen.get(l) ?? 0))
  })
  it('paused many', async () => {
    for (let i = 0; i < 60; i++) { const l = newId(); await kernel.one({ laneId: l }); await pauseLane(kernel.db, DEFAULT_WORKSPACE, l) }
    await kernel.one({ laneId: '00000000-0000-7000-8000-00000000000a' , type: 'note' })
    let n = 0
    const d = createDispatcher({ db: kernel.db, log: silent, handlers: { note: { kind: 'effect', retryPolicy: 'standard', apply: async () => { n++ } } }, policies: RETRY_POLICIES, worker: 'w', concurrency: 20, leaseMs: 60000 })
    await d.drain()
    console.log('done', n)
  })
  it('swallow', async () => {
    const id = await kernel.one()
    const d = createDispatcher({ db: kernel.db, log: silent, handlers: { note: { kind: 'effect', retryPolicy: 'standard', apply: async (a, tx) => { await tx.query('select 1/0').catch(() => undefined) } } }, policies: RETRY_POLICIES, worker: 'w', concurrency: 20, leaseMs: 60000 })
    await d.drain()
    console.log('swallow', (await kernel.row(id)).state, await kernel.count('leases'), d.counts)
  })
  it('order', async () => {
    const lane = newId()
    const r = await kernel.schedule(Array.from({ length: 20 }, (_, i) => newAction({ laneId: lane, runAt: new Date(Date.now() - 1000 - i * 1000) })))
    const c = await kernel.claim()
    console.log('order', c.actions.map((a) => Math.round(a.lagMs / 1000)).join(' '))
  })
})
