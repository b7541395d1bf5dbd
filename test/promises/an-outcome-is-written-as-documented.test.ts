import { describe, expect, it } from 'vitest'
import { armActions } from '../../src/db/arm-actions.js'
import { completeAction } from '../../src/db/complete-action.js'
import { settleActions } from '../../src/db/settle-actions.js'
import type { Outcome } from '../../src/domain/action.js'
import { openKernel } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { heldUnder, settledUnder } from '../support/held-under.js'

const reason = { code: 'why', text: 'because' }
const said = { reason: 'because', reason_code: 'why' }
const silence = { reason: null, reason_code: null }
/** From where, what the worker says, and what the row then holds; null when nothing may be written. */
const DOCUMENTED: ['leased' | 'armed', Outcome, object | null][] = [
  ['leased', { kind: 'done' }, null],
  ['leased', { kind: 'uncertain', reason }, null],
  ['leased', { kind: 'skipped', reason }, { state: 'skipped', attempts: 0, ...said }],
  ['leased', { kind: 'failed', reason }, { state: 'failed', attempts: 1, needs_attention: true, ...said }],
  ['leased', { kind: 'retry', waitMs: 90_000, reason }, { state: 'pending', attempts: 1, wait: 90_000, ...said }],
  ['leased', { kind: 'retry', waitMs: 5, reason, counts: false }, { state: 'pending', attempts: 0, wait: 5, ...said }],
  ['leased', { kind: 'release' }, { state: 'pending', attempts: 0, wait: 0, ...silence }],
  ['leased', { kind: 'release', waitMs: 30_000 }, { state: 'pending', attempts: 0, wait: 30_000, ...silence }],
  ['armed', { kind: 'done' }, { state: 'done', attempts: 1, ...silence }],
  [
    'armed',
    { kind: 'uncertain', reason },
    { state: 'uncertain', attempts: 1, needs_attention: true, held: true, ...said },
  ],
  ['armed', { kind: 'skipped', reason }, null],
  ['armed', { kind: 'failed', reason }, { state: 'failed', attempts: 1, needs_attention: true, ...said }],
  ['armed', { kind: 'retry', waitMs: 1_000, reason }, { state: 'pending', attempts: 1, wait: 1_000, ...said }],
  ['armed', { kind: 'retry', waitMs: 0, reason, counts: true }, { state: 'pending', attempts: 1, wait: 0, ...said }],
  ['armed', { kind: 'release' }, { state: 'pending', attempts: 0, wait: 0, ...silence }],
]

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const kernel = openKernel(kind)

  it('moves state, attempts, reason and time exactly so', async () => {
    for (const [from, outcome, expected] of DOCUMENTED) {
      const about = `${from}, ${JSON.stringify(outcome)}`
      const id = await kernel.one()
      const { token, ids } = await kernel.claim()
      expect(ids, about).toEqual([id])
      if (from === 'armed') await armActions(kernel.db, heldUnder(token, ids))
      const before = await kernel.row(id)
      const written = await settleActions(kernel.db, settledUnder(token, [{ id, outcome }]))
      const after = (
        await kernel.db.query<{ run_at: Date; wait: number | null }>(
          `select state, attempts, needs_attention, reason, reason_code, lease_token is not null as held, run_at,
             (extract(epoch from wake_at - state_at) * 1000)::float8 as wait
           from postrider.scheduled_actions where id = $1`,
          [id],
        )
      ).rows[0]!
      expect(written.has(id), about).toBe(expected !== null)
      if (!expected) {
        expect(await kernel.row(id), about).toEqual(before)
        continue
      }
      expect(after, about).toMatchObject({ needs_attention: false, held: false, wait: null, ...expected })
      // When it is due moves only for an outcome that asks for a wait.
      if (after.wait) expect((await kernel.row(id)).run_at, about).toEqual((await kernel.row(id)).wake_at)
      else expect(after.run_at, about).toEqual(before.run_at)
      await kernel.db.query(`update postrider.scheduled_actions set wake_at = null where id = $1`, [id])
    }
  })

  it('keeps the reason of the last failure when it is released, and forgets it when it succeeds', async () => {
    const id = await kernel.one()
    const first = await kernel.claim()
    await settleActions(kernel.db, settledUnder(first.token, [{ id, outcome: { kind: 'retry', waitMs: 0, reason } }]))
    await kernel.promote()
    const second = await kernel.claim()
    await settleActions(kernel.db, settledUnder(second.token, [{ id, outcome: { kind: 'release' } }]))
    expect(await kernel.row(id)).toMatchObject({ state: 'pending', attempts: 1, ...said })
    await kernel.promote()
    const third = await kernel.claim()
    await armActions(kernel.db, heldUnder(third.token, [id]))
    await settleActions(kernel.db, settledUnder(third.token, [{ id, outcome: { kind: 'done' } }]))
    expect(await kernel.row(id)).toMatchObject({ state: 'done', attempts: 2, ...silence })
  })

  it('writes any text an error may have, and the outcomes of its neighbours with it', async () => {
    const texts = [
      'a\0b',
      '\ud800',
      'ok \udc00\ud83d\ude00',
      'x'.repeat(10_000),
      '',
      'it\'s "quoted" \\u0000',
      '😀'.repeat(1_500),
    ]
    for (let i = 0; i < texts.length; i++) await kernel.one()
    const { token, ids } = await kernel.claim()
    const outcomes = ids.map((id, i) => ({
      id,
      outcome: { kind: 'failed' as const, reason: { code: 'e', text: texts[i]! } },
    }))
    expect((await settleActions(kernel.db, settledUnder(token, outcomes))).size).toBe(texts.length)
    const stored = await Promise.all(ids.map(async (id) => (await kernel.row(id)).reason))
    expect(stored.slice(0, 3)).toEqual(['ab', '\ufffd', 'ok \ufffd😀'])
    expect(stored[3]).toHaveLength(2_000)
    expect(stored.slice(4, 6)).toEqual(['', 'it\'s "quoted" \\u0000'])
    expect(stored[6]!.isWellFormed()).toBe(true)
  })

  it('settles different outcomes in one call, each on its own', async () => {
    for (let i = 0; i < 4; i++) await kernel.one()
    const { token, ids } = await kernel.claim()
    await armActions(kernel.db, heldUnder(token, ids.slice(0, 2)))
    const outcomes: Outcome[] = [{ kind: 'done' }, { kind: 'uncertain', reason }, { kind: 'done' }, { kind: 'release' }]
    const written = await settleActions(
      kernel.db,
      settledUnder(
        token,
        ids.map((id, i) => ({ id, outcome: outcomes[i]! })),
      ),
    )
    expect(written).toEqual(new Set([ids[0], ids[1], ids[3]]))
    const states = await Promise.all(ids.map(async (id) => (await kernel.row(id)).state))
    expect(states).toEqual(['done', 'uncertain', 'leased', 'pending'])
  })

  it('completes a held action in the transaction of its effect, or not at all', async () => {
    const id = await kernel.one()
    const { actions } = await kernel.claim()
    const undone = kernel.db.transaction(async (tx) => {
      expect(await completeAction(tx, actions[0]!)).toBe(true)
      throw new Error('the effect failed')
    })
    await expect(undone).rejects.toThrow('the effect failed')
    expect(await kernel.row(id)).toMatchObject({ state: 'leased', attempts: 0 })
    expect(await kernel.db.transaction((tx) => completeAction(tx, actions[0]!))).toBe(true)
    expect(await kernel.row(id)).toMatchObject({ state: 'done', attempts: 1, lease_token: null })
    expect(await kernel.db.transaction((tx) => completeAction(tx, actions[0]!))).toBe(false)
  })
})
