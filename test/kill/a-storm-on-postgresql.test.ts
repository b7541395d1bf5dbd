import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../src/db/client.js'
import { fileDatabase } from '../support/services/file-database.js'
import { sized } from '../support/sized.js'
import { announcedStorm, prepareStorms, type Storms } from './announced-storm.js'
import { ROUND } from './storm.js'

/** At the least, somebody is killed at every point. */
const HOLD = sized({ emails: 320, kills: 2 * ROUND }, { emails: 2_500, kills: 50 })
const RESEND = sized({ emails: 160, kills: ROUND }, { emails: 600, kills: 15 })

let storms: Storms
beforeAll(async () => {
  storms = await prepareStorms()
})
afterAll(() => storms.remove())

const storm: typeof announcedStorm = (what, options) => announcedStorm(`on PostgreSQL, ${what}`, options)
const place = async () => {
  const databaseUrl = await fileDatabase()
  return {
    databaseUrl,
    dataDirectory: storms.directory,
    open: () => Promise.resolve(connect({ connection: { connectionString: databaseUrl }, maxConnections: 2 })),
  }
}

describe('while workers and the API are killed and the mail server misbehaves, on PostgreSQL,', () => {
  test('nothing goes out twice, nothing is lost, nothing is guessed', { timeout: 1_800_000 }, async () => {
    const options = { ...storms, ...(await place()), ...HOLD, onUncertain: 'hold' as const }
    const { broken, counts, ends, missed } = await storm('hold', options)
    expect(broken).toEqual([])
    expect(ends).toEqual([0, 0, 0, 0])
    // Otherwise the kills would have proved nothing.
    expect(missed).toEqual([])
    expect(counts['uncertainByKill']).toBeGreaterThan(0)
    expect(counts['lostAnswers']).toBeGreaterThan(0)
  })

  test('with resend only what was uncertain goes out twice, unchanged', { timeout: 1_800_000 }, async () => {
    const options = { ...storms, ...(await place()), ...RESEND, onUncertain: 'resend' as const }
    const { broken, counts, ends, missed } = await storm('resend', options)
    expect(broken).toEqual([])
    expect(ends).toEqual([0, 0, 0, 0])
    expect(missed).toEqual([])
    expect(counts['takenTwice']).toBeGreaterThan(0)
  })
})
