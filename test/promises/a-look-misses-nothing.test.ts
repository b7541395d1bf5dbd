import { describe, expect, it } from 'vitest'
import { createDueClock } from '../../src/engine/due-clock.js'

const POLL_MS = 1_000

describe('when something falls due', () => {
  it('is looked up at the start, and believed no longer than until the next look', async () => {
    const due = createDueClock(POLL_MS)
    expect(due.inMs()).toBeLessThanOrEqual(0)
    expect(await due.look(async () => 60_000)).toBe(60_000)
    expect(due.inMs()).toBeGreaterThan(0)
    expect(due.inMs()).toBeLessThanOrEqual(POLL_MS)
    expect(await due.look(async () => null)).toBe(Number.POSITIVE_INFINITY)
    expect(due.inMs()).toBeLessThanOrEqual(POLL_MS)
  })

  it('is what was said while somebody looked, if that is earlier: the look may have begun before', async () => {
    const due = createDueClock(POLL_MS)
    await due.look(async () => {
      due.expect()
      return 60_000
    })
    expect(due.inMs()).toBeLessThanOrEqual(0)
    await due.look(async () => {
      due.expect(60_000)
      return 0
    })
    expect(due.inMs()).toBeLessThanOrEqual(0)
  })

  it('is looked up again at once when the look failed', async () => {
    const due = createDueClock(POLL_MS)
    await due.look(async () => 500)
    await expect(due.look(() => Promise.reject(new Error('away')))).rejects.toThrow('away')
    expect(due.inMs()).toBeLessThanOrEqual(0)
  })
})
