import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../src/db/client.js'
import { sharedBrokerUrl } from '../brokers/broker-kinds.js'
import { CARRIERS, removeTraces } from '../brokers/storm-servers.js'
import { fileDatabase } from '../support/services/file-database.js'
import { sized } from '../support/sized.js'
import { announcedStorm, prepareStorms, type Storms } from './announced-storm.js'
import { ROUND } from './storm.js'

/** What a broker changes is who is told when: at the least, the storm that holds shows that. */
const STORMS = sized(
  [{ emails: 120, kills: ROUND, onUncertain: 'hold' as const }],
  [
    { emails: 2_500, kills: 50, onUncertain: 'hold' as const },
    { emails: 600, kills: 15, onUncertain: 'resend' as const },
  ],
)

let storms: Storms
beforeAll(async () => {
  storms = await prepareStorms()
})
afterAll(() => storms.remove())

describe.each(CARRIERS)('while workers that are told by %s what is due are killed,', (name) => {
  test.each(STORMS)(
    'with $onUncertain nothing is lost and nothing is guessed',
    { timeout: 1_800_000 },
    async (size) => {
      const databaseUrl = await fileDatabase()
      const brokerUrl = (await sharedBrokerUrl(name))!
      try {
        const { broken, counts, ends, missed } = await announcedStorm(`with ${name}, ${size.onUncertain}`, {
          ...storms,
          databaseUrl,
          dataDirectory: storms.directory,
          brokerUrl,
          open: () => Promise.resolve(connect({ connection: { connectionString: databaseUrl }, maxConnections: 2 })),
          ...size,
        })
        expect(broken).toEqual([])
        expect(ends).toEqual([0, 0, 0, 0])
        expect(missed).toEqual([])
        expect(counts['kills']).toBe(size.kills)
        // With hold nothing goes out twice; with resend only what was uncertain does.
        expect(counts['takenTwice'] ?? 0).toSatisfy((twice: number) =>
          size.onUncertain === 'hold' ? twice === 0 : twice > 0,
        )
      } finally {
        await removeTraces(brokerUrl)
      }
    },
  )
})
