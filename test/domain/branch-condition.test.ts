import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/domain/action.js'
import { holds } from '../../src/domain/branch-condition.js'
import type { Comparison, Condition } from '../../src/domain/sequence.js'
import { conditions, facts } from './sequence-graphs.js'

const attributes: { readonly [key: string]: Json } = {
  plan: 'pro',
  seats: '12',
  score: 7.5,
  active: true,
  tags: ['vip', 3],
  since: '2026-03-01',
  company: { name: 'Ada & Co', address: { city: 'Paris' } },
  'Job.Title': 'CTO',
  nothing: null,
}
const known = { attributes, events: new Set(['opened']) }
const ask = (condition: Condition) => holds(condition, known)

describe('a condition on an attribute', () => {
  it.each<[string, Comparison, Json | undefined, boolean]>([
    ['plan', 'equals', 'pro', true],
    ['plan', 'equals', 'Pro', false],
    ['plan', 'not_equals', 'free', true],
    ['plan', 'not_equals', 'pro', false],
    ['active', 'equals', true, true],
    ['active', 'equals', 'true', false],
    // Out of a file everything is a text.
    ['seats', 'equals', 12, true],
    ['seats', 'equals', '12', true],
    ['seats', 'equals', '12.0', false],
    ['seats', 'greater', 9, true],
    ['seats', 'greater', 12, false],
    ['seats', 'less', 100, true],
    ['plan', 'greater', 1, false],
    ['plan', 'less', 1, false],
    ['score', 'greater', '7', true],
    ['score', 'less', 7.5, false],
    // Two texts are compared as texts: that is what puts dates in order.
    ['since', 'less', '2026-12-25', true],
    ['since', 'greater', '2026-12-25', false],
    ['active', 'greater', 0, false],
    ['plan', 'contains', 'r', true],
    ['plan', 'contains', 'R', false],
    ['tags', 'contains', 'vip', true],
    ['tags', 'contains', 'vi', false],
    ['tags', 'contains', '3', true],
    ['score', 'contains', 7, false],
    ['plan', 'in', ['free', 'pro'], true],
    ['plan', 'in', ['free'], false],
    ['seats', 'in', [12], true],
    ['company.name', 'equals', 'Ada & Co', true],
    ['company.address.city', 'equals', 'Paris', true],
    ['company', 'exists', undefined, true],
    ['company.address.street', 'exists', undefined, false],
    ['company.name.length', 'exists', undefined, false],
    ['tags.0', 'exists', undefined, false],
    ['Job.Title', 'equals', 'CTO', true],
    ['nothing', 'exists', undefined, false],
    ['nothing', 'missing', undefined, true],
    ['absent', 'missing', undefined, true],
    ['absent', 'not_equals', 'pro', true],
    ['absent', 'equals', 'pro', false],
    ['absent', 'less', 1, false],
    ['absent', 'contains', '', false],
    ['absent', 'in', ['pro'], false],
    // What every object has is nobody's attribute.
    ['constructor', 'exists', undefined, false],
    ['constructor.name', 'exists', undefined, false],
    ['__proto__', 'exists', undefined, false],
    ['company.toString', 'missing', undefined, true],
  ])('%s %s %j: %s', (attribute, is, value, expected) => {
    expect(ask({ attribute, is, ...(value !== undefined && { value }) })).toBe(expected)
  })
})

describe('a condition', () => {
  it.each<[Condition, boolean]>([
    [{ event: 'opened' }, true],
    [{ event: 'clicked' }, false],
    [{ not: { event: 'clicked' } }, true],
    [{ all: [{ event: 'opened' }, { event: 'clicked' }] }, false],
    [{ any: [{ event: 'opened' }, { event: 'clicked' }] }, true],
    [{ all: [{ event: 'opened' }, { not: { any: [{ event: 'clicked' }] } }] }, true],
  ])('%j is %s', (condition, expected) => {
    expect(ask(condition)).toBe(expected)
  })

  it('is true exactly if its opposite is not, whatever it says and of whomever', () => {
    fc.assert(
      fc.property(conditions, facts, (condition, contact) => {
        expect(holds({ not: condition }, contact)).toBe(!holds(condition, contact))
        expect(holds({ all: [condition, { not: condition }] }, contact)).toBe(false)
        expect(holds({ any: [condition, { not: condition }] }, contact)).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })
})
