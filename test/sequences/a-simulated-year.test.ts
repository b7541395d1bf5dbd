import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { announcedRandom } from '../support/seeded-random.js'
import { sized } from '../support/sized.js'
import { DATABASE_KINDS, NOW, openTestDatabase, type TestDatabase } from '../support/test-database.js'
import { runYear } from './year.js'

/** Clocks go forward in New York on the 14th and in London and Paris on the 28th; back on Lord Howe on April 4th. */
const FROM = new Date('2027-03-08T06:00:00Z')

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await openTestDatabase(kind)
  })
  afterAll(() => database.close())

  it('weeks of campaigns keep every rule, whatever happens meanwhile', async () => {
    const { seed } = announcedRandom(`weeks of sequences on ${kind}`)
    const size = kind === 'PostgreSQL' ? { contacts: sized(44, 70), workers: 2 } : { contacts: 36 }
    const year = await runYear({ ...database, now: NOW }, { seed, campaigns: 6, from: FROM, days: 30, ...size })
    expect(year.broken).toEqual([])
    // Or it would have been a quiet year, which proves little.
    for (const what of ['reply', 'click', 'pause', 'cancel']) expect([what, year.counts[what]]).not.toEqual([what, 0])
    expect(year.counts['mails']).toBeGreaterThan(size.contacts)
  }, 600_000)
})
