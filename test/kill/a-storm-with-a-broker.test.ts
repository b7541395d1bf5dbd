import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../src/db/client.js'
import { sharedBrokerUrl } from '../brokers/broker-kinds.js'
import { CARRIERS, removeTraces } from '../brokers/storm-servers.js'
import { fileDatabase } from '../support/services/file-database.js'
import { sized } from '../support/sized.js'
import { announcedStorm, prepareStorms, type Storms } from './announced-storm.js'
import { ROUND } from './storm.js'

const SIZE = sized({ emails: 120, kills: ROUND }, { emails: 300, kills: 3 * ROUND })

let storms: Storms
beforeAll(async () => {
  storms = await prepareStorms()
})
afterAll(() => storms.remove())

describe.each(CARRIERS)('while workers that are told by %s what is due are killed,', (name) => {
  test('nothing goes out twice, nothing is lost, nothing is guessed', { timeout: 300_000 }, async () => {
    const databaseUrl = await fileDatabase()
    const brokerUrl = (await sharedBrokerUrl(name))!
    try {
      const { broken, counts, ends, missed } = await announcedStorm(`with ${name}`, {
        ...storms,
        databaseUrl,
        dataDirectory: storms.directory,
        brokerUrl,
        open: () => Promise.resolve(connect({ connection: { connectionString: databaseUrl }, maxConnections: 2 })),
        ...SIZE,
        onUncertain: 'hold',
      })
      expect(broken).toEqual([])
      expect(ends).toEqual([0, 0, 0, 0])
      expect(missed).toEqual([])
      expect(counts['kills']).toBe(SIZE.kills)
    } finally {
      await removeTraces(brokerUrl)
    }
  })
})
