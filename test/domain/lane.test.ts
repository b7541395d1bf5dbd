import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { takeTurns } from '../../src/domain/lane.js'

const of = (laneId: string, ...lags: number[]) => lags.map((lagMs, i) => ({ id: `${laneId}${i}`, laneId, lagMs }))
const order = (claimed: ReturnType<typeof of>) => takeTurns(claimed).map(({ id }) => id)

describe('what was claimed together', () => {
  it('is begun lane by lane in turn, who waited longest first within each', () => {
    expect(order([...of('a', 1, 3, 2), ...of('b', 9, 8, 7)])).toEqual(['b0', 'a1', 'b1', 'a2', 'b2', 'a0'])
  })

  it('begins with the first of every lane, however small its part', () => {
    expect(order([...of('a', 5, 5, 5, 5), ...of('b', 0)]).indexOf('b0')).toBe(1)
  })

  it('is all there, and no lane is ever further from its part than one', () => {
    const lanes = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(100)), { maxLength: 60 })
    fc.assert(
      fc.property(lanes, (drawn) => {
        const claimed = drawn.map(([laneId, lagMs], i) => ({ id: String(i), laneId, lagMs }))
        const turns = takeTurns(claimed)
        expect(turns.map(({ id }) => id).toSorted()).toEqual(claimed.map(({ id }) => id).toSorted())
        const lanes = new Set(claimed.map(({ laneId }) => laneId))
        for (const laneId of lanes) {
          const part = claimed.filter((action) => action.laneId === laneId)
          const own = turns.filter((action) => action.laneId === laneId)
          expect(own.map(({ lagMs }) => lagMs)).toEqual(part.map(({ lagMs }) => lagMs).toSorted((a, b) => b - a))
          own.forEach((action, i) => {
            const before = turns.slice(0, turns.indexOf(action)).filter((other) => other.laneId !== laneId)
            const others = claimed.length - part.length
            const due = (i / part.length) * others
            expect(Math.abs(before.length - due)).toBeLessThanOrEqual(lanes.size)
          })
        }
      }),
    )
  })
})
