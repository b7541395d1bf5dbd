import { domainToASCII } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldAddress, maskAddress, needsSmtpUtf8, sameAddress } from '../../src/domain/address.js'
import { domainToAscii } from '../../src/domain/idn.js'

describe('a folded address', () => {
  it.each([
    ['Ada@Example.COM', 'ada@example.com'],
    [' ada@example.com ', 'ada@example.com'],
    ['ADA@BÜCHER.de', 'ada@xn--bcher-kva.de'],
    ['"Ada"@x.org', 'ada@x.org'],
    ['"A B"@X.org', '"a b"@x.org'],
    ['ZOË@x.org', 'zoë@x.org'],
    ['zoe\u0308@x.org', 'zoë@x.org'],
    ['not an address', 'not an address'],
  ])('of %j is %j', (address, folded) => {
    expect(foldAddress(address)).toBe(folded)
    expect(foldAddress(folded)).toBe(folded)
    expect(sameAddress(address, folded)).toBe(true)
  })

  it('keeps different mailboxes apart', () => {
    expect(sameAddress('a@x.org', 'b@x.org')).toBe(false)
    expect(sameAddress('a+b@x.org', 'a@x.org')).toBe(false)
    expect(sameAddress('a.b@x.org', 'ab@x.org')).toBe(false)
  })

  it('is folded once and for all', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (local, domain) => {
        const once = foldAddress(`${local}@${domain}`)
        expect(foldAddress(once)).toBe(once)
      }),
    )
  })
})

describe('an address', () => {
  it('needs SMTPUTF8 for its local part only', () => {
    expect(needsSmtpUtf8('zoë@example.com')).toBe(true)
    expect(needsSmtpUtf8('zoe@xn--bcher-kva.de')).toBe(false)
    expect(needsSmtpUtf8('zoe@bücher.de')).toBe(false)
  })

  it.each([
    ['ada@example.com', 'a***@example.com'],
    ['a@example.com', 'a***@example.com'],
    ['"a b"@example.com', 'a***@example.com'],
    ['用户@example.com', '用***@example.com'],
    ['@example.com', '***'],
    ['ada', '***'],
    ['', '***'],
    ['a\n@example.com', '***'],
  ])('is masked for logs: %j as %j', (address, masked) => {
    expect(maskAddress(address)).toBe(masked)
  })
})

describe('a domain in ASCII', () => {
  it('is what Node makes of it, wherever Node makes something of it', () => {
    const letters = 'abcxyzABCäöüßéñçøłžğıșþðаяЯжבאعربλςΣΩ日本語한국어अआไทยกﬁＡｂ０-1'
    const label = fc
      .array(fc.constantFrom(...Array.from(letters)), { minLength: 1, maxLength: 12 })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(label, (label) => {
        const ours = domainToAscii(`${label}.example`)
        const node = domainToASCII(`${label}.example`)
        if (ours !== null && node !== '') expect(ours).toBe(node)
      }),
      { numRuns: 5_000, examples: [['aΣ日'], ['Σ'], ['ıß']] },
    )
  })
})
