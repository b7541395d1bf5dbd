import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { groupCommit } from '../../src/group-commit.js'

const REST_MS = 4

// Of time and turns of the event loop only: what waits for what is asserted, not how long a machine takes.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** A write that takes some time, and what went into each. */
function open({ tookMs = 1, maxItems = 100, maxFlushes = 2 } = {}) {
  const groups: number[][] = []
  const write = groupCommit<number, number>(
    async (items) => {
      groups.push(items)
      await new Promise((resolve) => setTimeout(resolve, tookMs))
      return items.map((item) => -item)
    },
    { maxItems, maxFlushes, restMs: REST_MS },
  )
  return { groups, write }
}

it('a lone caller waits for nobody', async () => {
  const { groups, write } = open()
  for (const item of [1, 2, 3]) {
    const written = write(item)
    await vi.advanceTimersByTimeAsync(0)
    expect(groups).toHaveLength(item)
    await vi.advanceTimersByTimeAsync(REST_MS)
    expect(await written).toBe(-item)
  }
})

it('those who come one by one share the next, and each gets the answer to its own', async () => {
  const { groups, write } = open()
  const written: Promise<number>[] = []
  for (let item = 1; item <= 9; item++) {
    written.push(write(item))
    await vi.advanceTimersByTimeAsync(1)
  }
  await vi.advanceTimersByTimeAsync(REST_MS)
  expect(groups).toEqual([[1], [2, 3, 4], [5, 6, 7, 8], [9]])
  expect(await Promise.all(written)).toEqual([-1, -2, -3, -4, -5, -6, -7, -8, -9])
})

it('a full group does not rest, and no more are under way than may be', async () => {
  const { groups, write } = open({ tookMs: 100, maxItems: 3 })
  void write(0)
  await vi.advanceTimersByTimeAsync(0)
  for (let item = 1; item <= 7; item++) void write(item)
  await vi.advanceTimersByTimeAsync(0)
  expect(groups).toEqual([[0], [1, 2, 3]])
  await vi.advanceTimersByTimeAsync(200)
  expect(groups).toEqual([[0], [1, 2, 3], [4, 5, 6], [7]])
})

it('many do not rest, although there would be room for more', async () => {
  const { groups, write } = open({ maxItems: 1_000 })
  void write(0)
  await vi.advanceTimersByTimeAsync(0)
  for (let item = 1; item <= 99; item++) void write(item)
  await vi.advanceTimersByTimeAsync(1)
  expect(groups).toHaveLength(1)
  for (let item = 100; item <= 110; item++) void write(item)
  await vi.advanceTimersByTimeAsync(0)
  expect(groups.map(({ length }) => length)).toEqual([1, 110])
  await vi.advanceTimersByTimeAsync(REST_MS)
  expect(groups).toHaveLength(2)
})

it('a write that fails fails for those who were in it, and for nobody else', async () => {
  let fail = true
  const write = groupCommit<number, number>(
    (items) => (fail ? Promise.reject(new Error('away')) : Promise.resolve(items)),
    { maxItems: 10, maxFlushes: 1, restMs: REST_MS },
  )
  const refused = Promise.allSettled([write(1), write(2)])
  await vi.advanceTimersByTimeAsync(0)
  expect((await refused).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  fail = false
  const written = write(3)
  await vi.advanceTimersByTimeAsync(REST_MS)
  expect(await written).toBe(3)
})
