import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findClosest } from '../../src/domain/did-you-mean.js'
import { formatDurationMs, parseDurationMs } from '../../src/domain/duration.js'
import { firstIdAt, isId, newId } from '../../src/id.js'

describe('a duration', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['2m', 120_000],
    ['1.5h', 5_400_000],
    ['1d', 86_400_000],
    [' 5 m ', 300_000],
    ['0s', 0],
  ])('%j is %i ms', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms)
  })

  it.each(['', '5', 's', '-1s', '1w', '1e3s', '1 s s', '.5s', '1.s', '5S', 'five m'])('%j is none', (text) => {
    expect(parseDurationMs(text)).toBeNull()
  })

  it('is written as short as is exact, and read back', () => {
    expect([90_000, 120_000, 86_400_000, 1, 1_500, 0].map(formatDurationMs)).toEqual([
      '90s',
      '2m',
      '1d',
      '1ms',
      '1500ms',
      '0ms',
    ])
    fc.assert(fc.property(fc.nat(), (ms) => parseDurationMs(formatDurationMs(ms)) === ms))
  })
})

describe('did you mean', () => {
  const known = ['LEASE_SECONDS', 'SWEEP_SECONDS', 'LOG_LEVEL', 'info']

  it.each([
    ['LEASE_SECOND', 'LEASE_SECONDS'],
    ['lease_seconds', 'LEASE_SECONDS'],
    ['LAESE_SECONDS', 'LEASE_SECONDS'],
    ['inof', null],
    ['inf', 'info'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['PATH', null],
    ['', null],
  ])('%j is close to %j', (word, closest) => {
    expect(findClosest(word, known)).toBe(closest)
  })

  it('knows nothing close when nothing is known', () => {
    expect(findClosest('a', [])).toBeNull()
  })
})

describe('an id', () => {
  it('is one, and sorts by the time it was made', () => {
    const ids = Array.from({ length: 100 }, newId)
    expect(ids.every(isId)).toBe(true)
    expect(ids.toSorted()).toEqual(ids)
    expect(firstIdAt(new Date(Date.now() - 1_000)) < ids[0]!).toBe(true)
    expect(firstIdAt(new Date(Date.now() + 1_000)) > ids[99]!).toBe(true)
    expect(isId(firstIdAt(new Date(0)))).toBe(true)
    expect(isId('campaign-7')).toBe(false)
  })
})
