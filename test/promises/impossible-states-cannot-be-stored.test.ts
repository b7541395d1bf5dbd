import { describe, expect, it } from 'vitest'
import { ACTION_STATES, ATTENTION_STATES, type ActionState } from '../../src/domain/states.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import { openKernel } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'

const HAS_TOKEN: readonly ActionState[] = ['leased', 'armed', 'uncertain']
const NOT_SENT: readonly ActionState[] = ['failed', 'canceled', 'skipped', 'expired', 'dismissed']

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const kernel = openKernel(kind)

  const store = (columns: Record<string, unknown>) => {
    const row = {
      id: newId(),
      workspace_id: DEFAULT_WORKSPACE,
      lane_id: newId(),
      type: 'note',
      dedupe_key: newId(),
      run_at: new Date(),
      ...columns,
    }
    const names = Object.keys(row)
    return kernel.db.query(
      `insert into postrider.scheduled_actions (${names.join(', ')}) values (${names.map((_, i) => `$${i + 1}`).join(', ')})`,
      Object.values(row),
    )
  }
  const sound = (state: ActionState) => ({
    state,
    lease_token: HAS_TOKEN.includes(state) ? newId() : null,
    needs_attention: (ATTENTION_STATES as readonly string[]).includes(state),
  })
  const violates = (constraint: string) => ({ code: '23514', constraint })

  it('stores every state of the domain, and no other', async () => {
    for (const state of ACTION_STATES) await store(sound(state))
    expect(await kernel.count('scheduled_actions')).toBe(ACTION_STATES.length)
    for (const state of ['sent', 'PENDING', '', 'running'])
      await expect(store({ state })).rejects.toMatchObject(violates('scheduled_actions_state'))
  })

  it('stores no state with the token, the attention or the wait of another', async () => {
    for (const state of ACTION_STATES) {
      const row = sound(state)
      const lease_token = row.lease_token ? null : newId()
      await expect(store({ ...row, lease_token }), state).rejects.toMatchObject(violates('scheduled_actions_lease'))
      await expect(store({ ...row, needs_attention: !row.needs_attention }), state).rejects.toMatchObject(
        violates('scheduled_actions_attention'),
      )
      const waiting = store({ ...row, wake_at: new Date() })
      if (state === 'pending') await waiting
      else await expect(waiting, state).rejects.toMatchObject(violates('scheduled_actions_waits_only_pending'))
    }
  })

  it('stores nothing that may have been taken as failed or not sent', async () => {
    for (const state of ACTION_STATES) {
      const stored = store({ ...sound(state), in_doubt: true })
      if (NOT_SENT.includes(state))
        await expect(stored, state).rejects.toMatchObject(violates('scheduled_actions_doubt'))
      else await stored
    }
  })

  it.each([
    [{ attempts: -1 }, 'scheduled_actions_attempts'],
    [{ rescues: -1 }, 'scheduled_actions_attempts'],
    [{ dedupe_key: '' }, 'scheduled_actions_dedupe_key'],
    [{ dedupe_key: 'k'.repeat(513) }, 'scheduled_actions_dedupe_key'],
    [{ node_id: 'n' }, 'scheduled_actions_node'],
  ])('does not store %j', async (columns, constraint) => {
    await expect(store(columns)).rejects.toMatchObject(violates(constraint))
  })

  it('stores neither an empty hint, nor an empty lease, nor a lane out of bounds', async () => {
    const { db } = kernel
    const lane = (weight: number, priority: number) =>
      db.query(`insert into postrider.lanes (id, workspace_id, weight, priority) values ($1, $1, $2, $3)`, [
        newId(),
        weight,
        priority,
      ])
    await lane(1, 0)
    await lane(1_000, 100)
    for (const [weight, priority] of [
      [0, 0],
      [1_001, 0],
      [1, -1],
      [1, 101],
    ] as const)
      await expect(lane(weight, priority)).rejects.toMatchObject({ code: '23514' })
    await expect(
      db.query(`insert into postrider.ready_actions (lane_id, run_at, action_ids) values ($1, now(), '{}')`, [newId()]),
    ).rejects.toMatchObject(violates('ready_actions_not_empty'))
    await expect(
      db.query(`insert into postrider.leases (token, worker, expires_at, action_ids) values ($1, 'w', now(), '{}')`, [
        newId(),
      ]),
    ).rejects.toMatchObject(violates('leases_not_empty'))
  })
})
