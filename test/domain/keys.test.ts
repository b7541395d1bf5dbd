import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  campaignBatchKey,
  campaignEmailKey,
  type EmailKey,
  emailKey,
  nodeKey,
  parseSequenceStepKey,
  sequenceStepKey,
} from '../../src/domain/keys.js'

const part = fc.string({ minLength: 1, unit: 'binary' }).filter((text) => !text.includes(':'))
const counter = fc.nat({ max: Number.MAX_SAFE_INTEGER })

describe('an idempotency key', () => {
  it('has the documented form', () => {
    expect(sequenceStepKey({ contactId: 'c', sequenceId: 's', stepNumber: 3 })).toBe('c:s:3')
    expect(campaignEmailKey('k', 'c')).toBe('campaign:k:c')
    expect(campaignBatchKey('k')).toBe('campaign-batch:k')
    expect(nodeKey({ enrollmentId: 'e', nodeId: 'n', type: 'timeout', visit: 0 })).toBe('e:n:timeout:0')
    expect(emailKey({ key: 'welcome:ada', index: null, recipient: null })).toBe('email:welcome:ada')
  })

  it('of a sequence step can be read back', () => {
    fc.assert(
      fc.property(part, part, counter, (contactId, sequenceId, stepNumber) => {
        const step = { contactId, sequenceId, stepNumber }
        expect(parseSequenceStepKey(sequenceStepKey(step))).toEqual(step)
      }),
    )
  })

  it('is never shared by two different things', () => {
    const visit = fc.record({ enrollmentId: part, nodeId: part, type: part, visit: counter })
    fc.assert(
      fc.property(visit, visit, (a, b) => {
        expect(nodeKey(a) === nodeKey(b)).toBe(JSON.stringify(a) === JSON.stringify(b))
      }),
    )
  })

  it('of an email is never that of another, whatever its caller writes', () => {
    // Of few letters, so that one is often the beginning of another.
    const written = fc.array(fc.constantFrom('a', ':', '1', 'to', 'key', 'batch', 'email', 'email-of'), {
      maxLength: 8,
    })
    const text = written.map((pieces) => pieces.join(''))
    const key: fc.Arbitrary<EmailKey> = fc.record({
      key: text,
      index: fc.option(fc.nat({ max: 12 })),
      recipient: fc.option(text),
    })
    fc.assert(
      fc.property(key, key, (a, b) => {
        expect(emailKey(a) === emailKey(b)).toBe(JSON.stringify(a) === JSON.stringify(b))
      }),
      { numRuns: 5_000 },
    )
  })

  it.each(['', ':', 'a:b', 'a:'])('is not built from the part %j', (bad) => {
    expect(() => sequenceStepKey({ contactId: bad, sequenceId: 's', stepNumber: 1 })).toThrow(/contactId/)
    expect(() => sequenceStepKey({ contactId: 'c', sequenceId: bad, stepNumber: 1 })).toThrow(/sequenceId/)
    expect(() => campaignEmailKey(bad, 'c')).toThrow(/campaignId/)
    expect(() => campaignEmailKey('k', bad)).toThrow(/contactId/)
    expect(() => campaignBatchKey(bad)).toThrow(/campaignId/)
    expect(() => nodeKey({ enrollmentId: 'e', nodeId: bad, type: 't', visit: 0 })).toThrow(/nodeId/)
    expect(() => nodeKey({ enrollmentId: 'e', nodeId: 'n', type: bad, visit: 0 })).toThrow(/type/)
  })

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('is not built from the number %d', (bad) => {
    expect(() => sequenceStepKey({ contactId: 'c', sequenceId: 's', stepNumber: bad })).toThrow(/stepNumber/)
    expect(() => nodeKey({ enrollmentId: 'e', nodeId: 'n', type: 't', visit: bad })).toThrow(/visit/)
  })

  it.each([
    '',
    'a',
    'a:b',
    'a:b:',
    ':b:1',
    'a::1',
    'a:b:x',
    'a:b:-1',
    'a:b:01',
    'a:b:1.5',
    'a:b:1:2',
    'a:b:9007199254740992',
  ])('is not read from %j', (text) => {
    expect(parseSequenceStepKey(text)).toBeNull()
  })
})
