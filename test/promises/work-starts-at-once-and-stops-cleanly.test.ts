import { describe, expect, it, onTestFinished } from 'vitest'
import { createPostrider } from '../../src/compose.js'
import { WAKE_CHANNEL } from '../../src/db/wake-channel.js'
import { RETRY_POLICIES } from '../../src/domain/retry.js'
import { createDispatcher } from '../../src/engine/dispatcher.js'
import type { Handlers } from '../../src/engine/handler.js'
import { createWaker } from '../../src/engine/waker.js'
import { newId } from '../../src/id.js'
import { newAction, openKernel, silent, until } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'

/** Longer than any test may take: what starts, starts because somebody was woken. */
const NEVER_MS = 600_000

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const kernel = openKernel(kind)

  const createWorker = (handlers: Handlers, concurrency = 5, leadMs?: number) =>
    createDispatcher({
      ...(leadMs !== undefined && { leadMs }),
      db: kernel.db,
      log: silent,
      handlers,
      policies: RETRY_POLICIES,
      worker: 'worker',
      concurrency,
      leaseMs: 60_000,
      pollMs: NEVER_MS,
    })

  /** A worker that listens, and is asleep: it has found its first action and nothing after it. */
  const startSleepy = async () => {
    /** By the database's clock, when it was begun. */
    const lags = new Map<string, number>()
    const dispatcher = createWorker({
      note: {
        kind: 'effect',
        retryPolicy: 'standard',
        async apply({ id }, tx) {
          const { rows } = await tx.query<{ lag: number }>(
            `select extract(epoch from ${tx.now} - run_at)::float8 * 1000 as lag from postrider.scheduled_actions where id = $1`,
            [id],
          )
          lags.set(id, rows[0]!.lag)
        },
      },
    })
    const first = await kernel.one()
    const stopListening = await kernel.db.listen(WAKE_CHANNEL, () => dispatcher.wake())
    dispatcher.start()
    onTestFinished(async () => {
      await stopListening()
      await dispatcher.stop()
    })
    await until('the first action is done', async () => (await kernel.row(first)).state === 'done')
    return { dispatcher, lags }
  }

  it('starts what is scheduled for now when this process says so', async () => {
    const { dispatcher, lags } = await startSleepy()
    const waker = createWaker({ db: kernel.db, log: silent, local: () => dispatcher.wake(), others: false })
    const id = await kernel.one()
    waker.wake()
    await until('the action starts', () => lags.has(id))
    await waker.close()
  })

  it('starts what is scheduled for now by another process, through NOTIFY', async () => {
    const { lags } = await startSleepy()
    const other = await createPostrider({ ...kernel.location, attach: true, migrate: false, log: silent })
    onTestFinished(() => other.stop())
    const { actions } = await other.actions.schedule({ type: 'note', laneId: newId(), dedupeKey: 'from-afar' })
    await until('the action starts', () => lags.has(actions[0]!.id))
  })

  it('starts what falls due in a moment on time', async () => {
    const { dispatcher, lags } = await startSleepy()
    const id = await kernel.one({ runAt: new Date(Date.now() + 300) })
    dispatcher.wake()
    await until('the action starts', () => lags.has(id))
    expect(lags.get(id)).toBeGreaterThanOrEqual(0)
    expect(lags.get(id)).toBeLessThan(3_000)
  })

  it('leases what falls due ahead of its time, reads what it needs, and hands it over when its time has come', async () => {
    const told: string[] = []
    const dispatcher = createWorker(
      {
        note: {
          kind: 'hand-over',
          retryPolicy: 'standard',
          readAhead: ({ id }) => void told.push(`read ${id}`),
          async handOver({ id }, grip) {
            told.push(`begin ${id}`)
            expect(await grip.arm()).toBe(true)
            return { kind: 'done' }
          },
        },
      },
      5,
      NEVER_MS,
    )
    onTestFinished(() => dispatcher.stop())
    const first = await kernel.one()
    dispatcher.start()
    await until('the first action is done', async () => (await kernel.row(first)).state === 'done')
    const id = await kernel.one({ runAt: new Date(Date.now() + 1_500) })
    dispatcher.wake()
    await until('it is held', async () => (await kernel.row(id)).state === 'leased')
    expect(told).toEqual([`begin ${first}`, `read ${id}`])
    await until('it is done', async () => (await kernel.row(id)).state === 'done')
    // Armed at the first try: it was not begun before the database's clock said so.
    expect(told).toEqual([`begin ${first}`, `read ${id}`, `begin ${id}`])
  })

  it('holds no more ahead of its time than it can use soon, and gives it back when it stops', async () => {
    const note = { kind: 'effect', retryPolicy: 'standard', apply: () => Promise.resolve() } as const
    const dispatcher = createWorker({ note }, 4, NEVER_MS)
    const first = await kernel.one()
    dispatcher.start()
    await until('the first action is done', async () => (await kernel.row(first)).state === 'done')
    const runAt = new Date(Date.now() + 60_000)
    await kernel.schedule(Array.from({ length: 20 }, () => newAction({ runAt })))
    dispatcher.wake()
    const held = async () => (await kernel.rows()).filter(({ state }) => state === 'leased').length
    await until('some are held', async () => (await held()) > 0)
    // What is due is not kept waiting by what is not.
    const now = await kernel.one()
    dispatcher.wake()
    await until('what is due is done', async () => (await kernel.row(now)).state === 'done')
    expect(await held()).toBe(4)
    await dispatcher.stop()
    expect(await held()).toBe(0)
    expect(await kernel.count('leases')).toBe(0)
    await kernel.shiftClock(60_001)
    await kernel.promote()
    expect(await kernel.claimAll()).toHaveLength(20)
  })

  it('finishes what is under way when it stops, gives back the rest, and leaves no lease', async () => {
    let begun = 0
    let finish = () => {}
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const dispatcher = createWorker(
      {
        note: {
          kind: 'hand-over',
          retryPolicy: 'standard',
          async handOver(_, grip) {
            await grip.arm()
            begun++
            await finished
            return { kind: 'done' }
          },
        },
      },
      2,
    )
    await kernel.fill(newId(), 10)
    dispatcher.start()
    await until('two are under way', () => begun === 2)
    await until('more are held', async () => (await kernel.rows()).some(({ state }) => state === 'leased'))
    const stopped = dispatcher.stop()
    finish()
    await stopped
    const states = (await kernel.rows()).map(({ state }) => state).toSorted()
    expect(states).toEqual([...Array<string>(2).fill('done'), ...Array<string>(8).fill('pending')])
    expect(begun).toBe(2)
    expect(await kernel.count('leases')).toBe(0)
    await kernel.promote()
    expect(await kernel.claimAll()).toHaveLength(8)
  })

  it('arms nothing any more once it is stopping', async () => {
    let begun = () => {}
    const underWay = new Promise<void>((resolve) => (begun = resolve))
    let answer: boolean | undefined
    const dispatcher = createWorker({
      note: {
        kind: 'hand-over',
        retryPolicy: 'standard',
        async handOver(_, grip) {
          begun()
          await new Promise((resolve) => grip.signal.addEventListener('abort', resolve, { once: true }))
          answer = await grip.arm()
          return { kind: 'release' }
        },
      },
    })
    const id = await kernel.one()
    dispatcher.start()
    await underWay
    await dispatcher.stop()
    expect(answer).toBe(false)
    expect(await kernel.row(id)).toMatchObject({ state: 'pending', attempts: 0, lease_token: null })
  })

  it('drains everything that is due, and then ends', async () => {
    const seen = new Set<string>()
    const dispatcher = createWorker({
      note: {
        kind: 'effect',
        retryPolicy: 'standard',
        async apply({ id }) {
          expect(seen.has(id)).toBe(false)
          seen.add(id)
        },
      },
    })
    for (const count of [220, 30, 1]) await kernel.fill(newId(), count)
    const future = await kernel.one({ runAt: new Date(Date.now() + 3_600_000) })
    await dispatcher.drain()
    expect(seen.size).toBe(251)
    expect(dispatcher.counts).toMatchObject({ claimed: 251, done: 251 })
    expect(await kernel.row(future)).toMatchObject({ state: 'pending' })
    expect(await kernel.count('leases')).toBe(0)
    await dispatcher.drain()
    expect(dispatcher.counts.claimed).toBe(251)
  })

  it('works as a whole: schedule, work, look, tick, stop', async () => {
    const postrider = await createPostrider({
      ...kernel.location,
      attach: true,
      log: silent,
      handlers: { note: { kind: 'effect', retryPolicy: 'standard', apply: () => Promise.resolve() } },
    })
    onTestFinished(() => postrider.stop())
    expect(postrider.migrated).toEqual([])
    const { actions } = await postrider.actions.schedule(Array.from({ length: 20 }, () => newAction()))
    expect(await postrider.backlog()).toMatchObject({ due: 20, leases: 0, attention: 0 })
    await postrider.tick()
    expect(await postrider.actions.find(actions[0]!.id)).toMatchObject({ state: 'done', attempts: 1 })
    await postrider.start()
    const late = await postrider.actions.schedule(newAction())
    await until('it is done', async () => (await postrider.actions.find(late.actions[0]!.id))?.state === 'done')
    expect(await postrider.backlog()).toMatchObject({ due: 0, attention: 0 })
    await postrider.stop()
    expect(await kernel.count('leases')).toBe(0)
  })
})
