import { describe, expect, it } from 'vitest'
import { describeCondition } from '../../dashboard/src/screens/sequences/condition-words.js'

describe('the condition of a branch', () => {
  it.each([
    [{ event: 'clicked' }, '“clicked” happened'],
    [{ attribute: 'plan', is: 'equals', value: 'pro' }, 'plan is pro'],
    [{ attribute: 'orders', is: 'greater', value: 0 }, 'orders is greater than 0'],
    [{ attribute: 'vip', is: 'not_equals', value: false }, 'vip is not false'],
    [{ attribute: 'city', is: 'missing' }, 'city is not known'],
    [{ attribute: 'city', is: 'in', value: ['Bern', 'Oslo'] }, 'city is one of Bern, Oslo'],
    [{ all: [{ event: 'opened' }, { not: { event: 'clicked' } }] }, '“opened” happened and not: “clicked” happened'],
    [
      { any: [{ all: [{ event: 'a' }, { event: 'b' }] }, { event: 'c' }] },
      '(“a” happened and “b” happened) or “c” happened',
    ],
    [{ not: { any: [{ event: 'a' }, { event: 'b' }] } }, 'not: (“a” happened or “b” happened)'],
  ])('%j is said in words', (condition, words) => expect(describeCondition(condition)).toBe(words))

  it.each([[{}], [null], ['clicked'], [{ attribute: 'plan', is: 'similar' }], [{ attribute: 'plan' }], [[]]])(
    '%j, which is not one yet, is shown as it is',
    (condition) => expect(describeCondition(condition)).toBe(JSON.stringify(condition)),
  )
})
