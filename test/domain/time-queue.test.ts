import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createTimeQueue } from '../../src/domain/heap.js'

/** Few different times, so that many are the same. A null takes out what comes first. */
const steps = fc.array(fc.option(fc.integer({ min: -5, max: 20 }), { freq: 3 }), { maxLength: 300, size: 'max' })

it('what waits comes in the order of its time, and of the same time in the order it was put in', () => {
  fc.assert(
    fc.property(steps, (drawn) => {
      const queue = createTimeQueue<{ at: number; name: number }>()
      const waiting: { at: number; name: number }[] = []
      for (const [name, at] of [...drawn, ...drawn.map(() => null)].entries()) {
        if (at === null) {
          const first = waiting.toSorted((a, b) => a.at - b.at || a.name - b.name)[0]
          expect(queue.nextAt()).toBe(first?.at ?? null)
          expect(queue.pop()).toBe(first)
          if (first) waiting.splice(waiting.indexOf(first), 1)
        } else {
          const item = { at, name }
          queue.push(at, item)
          waiting.push(item)
        }
      }
    }),
    { numRuns: 100 },
  )
})
