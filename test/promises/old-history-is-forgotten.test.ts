import { describe, expect, it } from 'vitest'
import { cancelLane } from '../../src/db/lanes.js'
import { armActions } from '../../src/db/arm-actions.js'
import { prune } from '../../src/engine/pruner.js'
import { rebuild } from '../../src/engine/rescuer.js'
import { ACTION_STATES, FINAL_STATES } from '../../src/domain/states.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import { LEASE_MS, newAction, openKernel } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { heldUnder } from '../support/held-under.js'

const DAY = 86_400_000

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const kernel = openKernel(kind)

  const oneIn = async (state: string) => {
    const id = await kernel.one({ dedupeKey: `${state}-${newId()}` })
    await kernel.db.query(
      `update postrider.scheduled_actions set state = $2::text,
         lease_token = case when $2 in ('leased', 'armed', 'uncertain') then $3::uuid end,
         needs_attention = $2 in ('failed', 'uncertain'), state_at = ${kernel.db.now} where id = $1`,
      [id, state, newId()],
    )
    return id
  }

  it('forgets what is over for longer than the retention, and nothing else', async () => {
    for (const state of ACTION_STATES) await oneIn(state)
    // Made long ago, over only now: its story is still fresh.
    const slow = await kernel.one()
    await kernel.shiftClock(91 * DAY)
    await kernel.db.query(
      `update postrider.scheduled_actions set state = 'done', state_at = ${kernel.db.now} where id = $1`,
      [slow],
    )
    expect(await prune(kernel.db, 92 * DAY)).toBe(0)
    expect(await prune(kernel.db, 90 * DAY)).toBe(FINAL_STATES.length)
    const left = (await kernel.rows()).filter(({ id }) => id !== slow).map(({ state }) => state)
    expect(new Set(left)).toEqual(new Set(['pending', 'leased', 'armed', 'failed', 'uncertain']))
    expect(await kernel.row(slow)).toMatchObject({ state: 'done' })
    expect(await prune(kernel.db, 90 * DAY)).toBe(0)
  })

  it('frees the key of what it forgot', async () => {
    const first = await kernel.one({ dedupeKey: 'k' })
    await kernel.db.query(`update postrider.scheduled_actions set state = 'done'`)
    await kernel.shiftClock(2 * DAY)
    expect(await prune(kernel.db, DAY)).toBe(1)
    expect(await kernel.one({ dedupeKey: 'k' })).not.toBe(first)
  })

  it('walks over more than one page', async () => {
    await kernel.schedule(Array.from({ length: 2_500 }, () => newAction({ laneId: newId() })))
    await kernel.db.query(
      `update postrider.scheduled_actions set state = 'done'
       where id in (select id from postrider.scheduled_actions order by id desc limit 1200)`,
    )
    await kernel.shiftClock(2 * DAY)
    expect(await prune(kernel.db, DAY)).toBe(1_200)
    expect(await kernel.count('scheduled_actions')).toBe(1_300)
  })

  it('rebuilds the same once or five times at once', async () => {
    const lane = newId()
    for (let i = 0; i < 60; i++) {
      await kernel.schedule([newAction(), newAction()])
      const { token, ids } = await kernel.claim()
      await armActions(kernel.db, heldUnder(token, [ids[0]!]))
    }
    await kernel.schedule(Array.from({ length: 1_100 }, () => newAction({ laneId: lane })))
    await kernel.schedule(Array.from({ length: 30 }, () => newAction({ runAt: new Date(Date.now() + 1_000) })))
    await cancelLane(kernel.db, DEFAULT_WORKSPACE, lane)
    await kernel.shiftClock(LEASE_MS + 1_001)

    const rebuilt = await Promise.all(Array.from({ length: 5 }, () => rebuild(kernel.db)))
    const sum = (count: (one: (typeof rebuilt)[number]) => number) =>
      rebuilt.reduce((total, one) => total + count(one), 0)
    expect({
      leases: sum(({ leases }) => leases),
      pending: sum(({ pending }) => pending),
      uncertain: sum(({ uncertain }) => uncertain),
      canceled: sum(({ canceled }) => canceled),
    }).toEqual({ leases: 60, pending: 60, uncertain: 60, canceled: 1_100 })
    // Of two that run at once each may see the other's rescued rows too late to promote them; one more finds the rest.
    expect(sum(({ promoted }) => promoted) + (await rebuild(kernel.db)).promoted).toBe(90)
    expect(await rebuild(kernel.db)).toEqual({
      leases: 0,
      pending: 0,
      uncertain: 0,
      resent: 0,
      promoted: 0,
      canceled: 0,
      returned: 0,
    })
    expect(await kernel.claimAll()).toHaveLength(90)
  })
})
