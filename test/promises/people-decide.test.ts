import { describe, expect, it } from 'vitest'
import { dismissAction, findAction, resolveAction, retryAction } from '../../src/db/actions.js'
import { armActions } from '../../src/db/arm-actions.js'
import { type CancelFilter, cancelActions } from '../../src/db/cancel-actions.js'
import { settleActions } from '../../src/db/settle-actions.js'
import { type ActionState, ACTION_STATES, canMove } from '../../src/domain/states.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import { openKernel } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { heldUnder, settledUnder } from '../support/held-under.js'

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const kernel = openKernel(kind)
  const cancel = (filter: CancelFilter) => cancelActions(kernel.db, DEFAULT_WORKSPACE, filter, 'changed my mind')

  /** An action in a state, as a story with that ending would leave it. */
  const oneIn = async (state: ActionState) => {
    const id = await kernel.one()
    await kernel.db.query(
      `update postrider.scheduled_actions set state = $2::text, attempts = 3, reason = 'r', reason_code = 'c',
         lease_token = case when $2 in ('leased', 'armed', 'uncertain') then $3::uuid end,
         needs_attention = $2 in ('failed', 'uncertain') where id = $1`,
      [id, state, newId()],
    )
    return id
  }

  const decisions = {
    retry: { run: retryAction, from: 'failed', to: 'pending' },
    dismiss: { run: dismissAction, from: 'failed', to: 'dismissed' },
    'resolve as done': {
      run: (...[db, workspaceId, id]: Parameters<typeof retryAction>) => resolveAction(db, workspaceId, id, 'done'),
      from: 'uncertain',
      to: 'done',
    },
    'resolve by sending again': {
      run: (...[db, workspaceId, id]: Parameters<typeof retryAction>) => resolveAction(db, workspaceId, id, 'again'),
      from: 'uncertain',
      to: 'pending',
    },
  } as const

  it.each(Object.entries(decisions))('%s: from where it is allowed, and nowhere else', async (_, { run, from, to }) => {
    expect(canMove(from, to, 'person')).toBe(true)
    for (const state of ACTION_STATES) {
      const id = await oneIn(state)
      const before = await kernel.row(id)
      if (state === from) {
        expect((await run(kernel.db, DEFAULT_WORKSPACE, id)).state).toBe(to)
        expect(await kernel.row(id)).toMatchObject({ state: to, needs_attention: false, lease_token: null })
      } else {
        await expect(run(kernel.db, DEFAULT_WORKSPACE, id)).rejects.toMatchObject({
          code: 'action_conflict',
          message: expect.stringContaining(`is ${state}`) as string,
        })
        expect(await kernel.row(id)).toEqual(before)
      }
    }
    await expect(run(kernel.db, DEFAULT_WORKSPACE, newId())).rejects.toMatchObject({ code: 'action_not_found' })
    const foreign = await oneIn(from)
    await expect(run(kernel.db, newId(), foreign)).rejects.toMatchObject({ code: 'action_not_found' })
    expect(await kernel.row(foreign)).toMatchObject({ state: from })
  })

  it('starts over when it is tried again: no attempts, no error, due now', async () => {
    for (const [state, again] of [
      ['failed', retryAction],
      ['uncertain', decisions['resolve by sending again'].run],
    ] as const) {
      const id = await oneIn(state)
      await again(kernel.db, DEFAULT_WORKSPACE, id)
      expect(await kernel.row(id)).toMatchObject({ state: 'pending', attempts: 0, reason: null, reason_code: null })
      await kernel.promote()
      expect((await kernel.claim()).ids).toEqual([id])
    }
  })

  it('does not show one workspace what is another’s', async () => {
    const id = await kernel.one()
    expect(await findAction(kernel.db, DEFAULT_WORKSPACE, id)).toMatchObject({ id, state: 'pending' })
    expect(await findAction(kernel.db, newId(), id)).toBeNull()
    expect(await cancelActions(kernel.db, newId(), { ids: [id] }, 'no')).toEqual([])
    expect(await kernel.row(id)).toMatchObject({ state: 'pending' })
  })

  it('cancels what waits or is only held, and leaves alone what is armed or over', async () => {
    const idOf = new Map<ActionState, string>()
    for (const state of ACTION_STATES) idOf.set(state, await oneIn(state))
    const canceled = await cancel({ ids: [...idOf.values()] })
    expect(new Set(canceled)).toEqual(new Set([idOf.get('pending'), idOf.get('leased')]))
    for (const [state, id] of idOf) {
      const becomes = canceled.includes(id) ? 'canceled' : state
      expect(await kernel.row(id)).toMatchObject({ state: becomes })
    }
    expect(await kernel.row(idOf.get('leased')!)).toMatchObject({
      lease_token: null,
      wake_at: null,
      reason: 'changed my mind',
      reason_code: 'canceled',
    })
  })

  it('takes a canceled action out of its worker’s hands', async () => {
    const id = await kernel.one()
    const { token } = await kernel.claim()
    expect(await cancel({ ids: [id] })).toEqual([id])
    expect(await armActions(kernel.db, heldUnder(token, [id]))).toEqual(new Set())
    expect(await settleActions(kernel.db, settledUnder(token, [{ id, outcome: { kind: 'release' } }]))).toEqual(
      new Set(),
    )
    expect(await kernel.row(id)).toMatchObject({ state: 'canceled' })
  })

  it('cancels by enrollment, by node of it, and by type', async () => {
    const [mine, other] = [newId(), newId()]
    const make = (enrollmentId: string, nodeId: string, type: string) => kernel.one({ enrollmentId, nodeId, type })
    const timeout = await make(mine, 'n1', 'timeout')
    const send = await make(mine, 'n1', 'send')
    const later = await make(mine, 'n2', 'timeout')
    const foreign = await make(other, 'n1', 'timeout')
    expect(await cancel({ enrollmentId: mine, nodeId: 'n1', type: 'timeout' })).toEqual([timeout])
    expect(await cancel({ enrollmentId: mine, nodeId: 'n1' })).toEqual([send])
    expect(await cancel({ enrollmentId: mine, type: 'send' })).toEqual([])
    expect(await cancel({ enrollmentId: mine })).toEqual([later])
    expect((await kernel.claimAll()).map(({ id }) => id)).toEqual([foreign])
  })

  it('cancels what waits for a later time, for good', async () => {
    const id = await kernel.one({ runAt: new Date(Date.now() + 60_000) })
    await cancel({ ids: [id] })
    await kernel.shiftClock(120_000)
    expect(await kernel.promote()).toBe(0)
    expect((await kernel.claim()).looked).toBe(0)
  })
})
