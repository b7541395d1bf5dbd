import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../src/db/client.js'
import { fileDatabase } from '../support/services/file-database.js'
import { announcedStorm, prepareStorms, type Storms } from './announced-storm.js'

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
  test('nothing goes out twice, nothing is lost, nothing is guessed', { timeout: 600_000 }, async () => {
    const options = { ...storms, ...(await place()), emails: 2_500, kills: 50, onUncertain: 'hold' as const }
    const { broken, counts, ends } = await storm('hold', options)
    expect(broken).toEqual([])
    expect(ends).toEqual([0, 0, 0, 0])
    // Otherwise the kills would have proved nothing.
    expect(counts['uncertainByKill']).toBeGreaterThan(0)
    expect(counts['lostAnswers']).toBeGreaterThan(0)
  })

  test('with resend only what was uncertain goes out twice, unchanged', { timeout: 600_000 }, async () => {
    const options = { ...storms, ...(await place()), emails: 600, kills: 15, onUncertain: 'resend' as const }
    const { broken, counts, ends } = await storm('resend', options)
    expect(broken).toEqual([])
    expect(ends).toEqual([0, 0, 0, 0])
    expect(counts['takenTwice']).toBeGreaterThan(0)
  })
})
