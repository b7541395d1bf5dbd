import { describe, expect, it } from 'vitest'
import { configureLane, pauseLane, resumeLane } from '../../src/db/lanes.js'
import { rescueActions } from '../../src/db/rescue-actions.js'
import { BULK_LANE } from '../../src/domain/lane.js'
import { RETRY_POLICIES } from '../../src/domain/retry.js'
import { createDispatcher } from '../../src/engine/dispatcher.js'
import type { EffectHandler, Handlers, HandOverHandler } from '../../src/engine/handler.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import { LEASE_MS, openKernel, silent } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'

const reason = { code: 'why', text: 'because' }

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const kernel = openKernel(kind)

  /** A worker that does everything due and stops. */
  const work = async (handlers: Handlers, concurrency = 5) => {
    const dispatcher = createDispatcher({
      db: kernel.db,
      log: silent,
      handlers,
      policies: RETRY_POLICIES,
      worker: 'worker',
      concurrency,
      leaseMs: LEASE_MS,
    })
    await dispatcher.drain()
    return dispatcher.counts
  }
  const effect = (apply: EffectHandler['apply']): Handlers => ({
    note: { kind: 'effect', retryPolicy: 'outreach', apply },
  })
  const handOver = (body: HandOverHandler['handOver']): Handlers => ({
    note: { kind: 'hand-over', retryPolicy: 'outreach', handOver: body },
  })
  const waitOf = async (id: string) => {
    const { rows } = await kernel.db.query<{ wait: number | null }>(
      `select (extract(epoch from wake_at - state_at) * 1000)::float8 as wait from postrider.scheduled_actions where id = $1`,
      [id],
    )
    return rows[0]!.wait
  }
  const effects = async () => {
    await kernel.db.query('create table if not exists public.effects (action uuid primary key)')
    await kernel.db.query('truncate public.effects')
    return {
      write: (id: string) => ['insert into public.effects values ($1)', [id]] as const,
      count: async () => (await kernel.db.query('select from public.effects')).rowCount,
    }
  }

  describe('an effect', () => {
    it('is committed together with its completion', async () => {
      const { write, count } = await effects()
      const id = await kernel.one()
      const counts = await work(effect(async (action, tx) => void (await tx.query(...write(action.id)))))
      expect(counts).toMatchObject({ claimed: 1, done: 1 })
      expect(await kernel.row(id)).toMatchObject({ state: 'done', attempts: 1 })
      expect(await count()).toBe(1)
      expect(await kernel.count('leases')).toBe(0)
    })

    it('is rolled back when its handler throws, and retried by the policy until that is used up', async () => {
      const { write, count } = await effects()
      const id = await kernel.one()
      const handlers = effect(async (action, tx) => {
        await tx.query(...write(action.id))
        throw new Error(`try ${action.attempts + 1} failed`)
      })
      const waits: (number | null)[] = []
      for (let attempt = 1; attempt <= 4; attempt++) {
        await work(handlers)
        expect(await count()).toBe(0)
        expect(await kernel.row(id)).toMatchObject({ attempts: attempt, reason: `try ${attempt} failed` })
        const wait = await waitOf(id)
        waits.push(wait)
        // A moment before its time nothing happens.
        if (wait !== null) await kernel.shiftClock(wait - 5_000)
        expect((await work(handlers)).claimed).toBe(0)
        await kernel.shiftClock(5_001)
      }
      expect(waits).toEqual([60_000, 300_000, 900_000, null])
      expect(await kernel.row(id)).toMatchObject({
        state: 'failed',
        needs_attention: true,
        reason_code: 'attempts_exhausted',
        reason: 'try 4 failed',
      })
    })

    it('follows the policy named on the action before the one of its handler', async () => {
      const fails = effect(() => Promise.reject(new Error('no')))
      for (const [retryPolicy, wait] of [
        ['transactional', 30_000],
        ['nonsense', 60_000],
      ] as const) {
        const id = await kernel.one({ retryPolicy })
        await work(fails)
        expect(await waitOf(id)).toBe(wait)
      }
    })

    it('leaves nothing behind for any outcome but done', async () => {
      const { write, count } = await effects()
      const outcomes = {
        retry: { kind: 'retry', reason, waitMs: 7_000 },
        failed: { kind: 'failed', reason },
        skipped: { kind: 'skipped', reason },
        release: { kind: 'release', waitMs: 9_000 },
      } as const
      const ids = new Map<string, string>()
      for (const kind of Object.keys(outcomes)) ids.set(await kernel.one({ payload: kind }), kind)
      await work(
        effect(async (action, tx) => {
          await tx.query(...write(action.id))
          return outcomes[action.payload as keyof typeof outcomes]
        }),
      )
      expect(await count()).toBe(0)
      for (const [id, kind] of ids) {
        const state = { retry: 'pending', failed: 'failed', skipped: 'skipped', release: 'pending' }[kind]
        const attempts = { retry: 1, failed: 1, skipped: 0, release: 0 }[kind]
        expect(await kernel.row(id), kind).toMatchObject({ state, attempts })
      }
    })

    it('is not done when its handler swallowed an error of the database: PostgreSQL rolled it back', async () => {
      const id = await kernel.one()
      const counts = await work(effect(async (_, tx) => void (await tx.query('select 1/0').catch(() => undefined))))
      expect(counts).toMatchObject({ done: 0, retry: 1 })
      expect(await kernel.row(id)).toMatchObject({ state: 'pending', attempts: 1, reason_code: 'handler_error' })
    })

    it('does not happen in a lane that was paused after the claim, and happens once when it is resumed', async () => {
      const { write, count } = await effects()
      const laneId = newId()
      await configureLane(kernel.db, DEFAULT_WORKSPACE, laneId, BULK_LANE)
      const inLane = await kernel.one({ laneId })
      await kernel.one({ type: 'pause' })
      const handlers: Handlers = {
        ...effect(async (action, tx) => void (await tx.query(...write(action.id)))),
        // Claimed together with the other and begun before it, because its lane goes first.
        pause: {
          kind: 'hand-over',
          retryPolicy: 'outreach',
          async handOver() {
            await pauseLane(kernel.db, DEFAULT_WORKSPACE, laneId)
            return { kind: 'skipped', reason }
          },
        },
      }
      expect(await work(handlers, 1)).toMatchObject({ claimed: 2, release: 1, done: 0 })
      expect(await kernel.row(inLane)).toMatchObject({ state: 'pending', attempts: 0 })
      await resumeLane(kernel.db, DEFAULT_WORKSPACE, laneId)
      expect(await work(handlers)).toMatchObject({ done: 1 })
      expect(await count()).toBe(1)
    })
  })

  describe('a hand-over', () => {
    it('is armed, then done', async () => {
      const id = await kernel.one()
      const seen: string[] = []
      await work(
        handOver(async (action, grip) => {
          seen.push((await kernel.row(action.id)).state)
          expect(await grip.arm()).toBe(true)
          expect(grip.holds()).toBe(true)
          seen.push((await kernel.row(action.id)).state)
          return { kind: 'done' }
        }),
      )
      expect(seen).toEqual(['leased', 'armed'])
      expect(await kernel.row(id)).toMatchObject({ state: 'done', attempts: 1, lease_token: null })
      expect(await kernel.count('leases')).toBe(0)
    })

    it('that throws before it is armed is retried', async () => {
      const id = await kernel.one()
      await work(handOver(() => Promise.reject(new Error('no connection'))))
      expect(await kernel.row(id)).toMatchObject({ state: 'pending', attempts: 1, reason: 'no connection' })
      expect(await waitOf(id)).toBe(60_000)
    })

    it('that throws after it is armed is uncertain, and not tried again', async () => {
      const id = await kernel.one()
      const handlers = handOver(async (_, grip) => {
        await grip.arm()
        throw new Error('connection reset')
      })
      await work(handlers)
      expect(await kernel.row(id)).toMatchObject({
        state: 'uncertain',
        attempts: 1,
        needs_attention: true,
        reason: 'connection reset',
      })
      await kernel.shiftClock(86_400_000)
      await rescueActions(kernel.db, 10)
      expect((await work(handlers)).claimed).toBe(0)
    })

    it('is never done without being armed', async () => {
      const id = await kernel.one()
      await work(handOver(() => Promise.resolve({ kind: 'done' })))
      expect(await kernel.row(id)).toMatchObject({ state: 'pending', attempts: 1, reason_code: 'handler_error' })
      expect((await kernel.row(id)).reason).toContain('without arming')
    })

    it('burns no attempt when its handler says that it does not count', async () => {
      const id = await kernel.one()
      await work(handOver(() => Promise.resolve({ kind: 'retry', reason, waitMs: 1_000, counts: false })))
      expect(await kernel.row(id)).toMatchObject({ state: 'pending', attempts: 0, reason_code: 'why' })
      expect(await waitOf(id)).toBe(1_000)
    })
  })

  it('leaves a type it does not know for a worker that does', async () => {
    const id = await kernel.one({ type: 'newer' })
    await work({})
    expect(await kernel.row(id)).toMatchObject({ state: 'pending', attempts: 0 })
    expect(await waitOf(id)).toBe(5_000)
    await kernel.shiftClock(30_001)
    await work({ newer: { kind: 'effect', retryPolicy: 'standard', apply: () => Promise.resolve() } })
    expect(await kernel.row(id)).toMatchObject({ state: 'done' })
  })
})
