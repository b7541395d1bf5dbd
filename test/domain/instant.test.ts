import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseInstant } from '../../src/domain/instant.js'

describe('an instant', () => {
  it.each([
    ['2027-02-28T10:00:00Z', '2027-02-28T10:00:00.000Z'],
    ['2028-02-29t10:00:00z', '2028-02-29T10:00:00.000Z'],
    ['2027-02-01 10:00:00+01:00', '2027-02-01T09:00:00.000Z'],
    ['2027-02-01T10:00Z', '2027-02-01T10:00:00.000Z'],
    ['2027-02-01T00:30:00-0530', '2027-02-01T06:00:00.000Z'],
    ['2027-02-01T10:00:00.1239999Z', '2027-02-01T10:00:00.123Z'],
    ['0050-01-01T00:00:00Z', '0050-01-01T00:00:00.000Z'],
  ])('is read from %s', (text, instant) => {
    expect(parseInstant(text)).toEqual(new Date(instant))
  })

  it.each([
    ['2027-02-29T10:00:00Z', /2027-02 has 28 days/],
    ['2027-02-30T10:00:00Z', /2027-02 has 28 days/],
    ['2027-04-31T10:00:00Z', /2027-04 has 30 days/],
    ['2100-02-29T10:00:00Z', /2100-02 has 28 days/],
    ['2027-01-00T10:00:00Z', /2027-01 has 31 days/],
    ['2027-13-01T10:00:00Z', /month that does not exist/],
    ['2027-00-01T10:00:00Z', /month that does not exist/],
    ['2027-02-01T24:00:00Z', /time that does not exist/],
    ['2027-02-01T10:60:00Z', /time that does not exist/],
    ['2027-02-01T10:00:60Z', /time that does not exist/],
    ['2027-02-01T10:00:00+24:00', /offset that does not exist/],
    ['2027-02-01T10:00:00+01:60', /offset that does not exist/],
    // Whose ten o'clock, nobody could know.
    ['2027-02-01T10:00:00', /an offset/],
    ['2027-02-01', /a time/],
    ['in 1 min', /words are not read/],
    ['tomorrow', /words are not read/],
    ['1800000000', /such as 2026-11-16T09:00:00Z/],
    ['', /such as/],
  ])('is not read from %s, and why is said', (text, words) => {
    expect(parseInstant(text)).toMatch(words)
  })

  it('is any that JavaScript writes', () => {
    const date = fc.date({
      min: new Date('0000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(date, (at) => {
        expect(parseInstant(at.toISOString())).toEqual(at)
      }),
    )
  })
})
