import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fileDatabase } from '../support/services/file-database.js'
import { runBrokerStorm, SWEEP_MS } from './broker-storm.js'
import { CARRIERS, privateServer, withPrefix } from './storm-servers.js'

const EMAILS = 1_000

describe.each(CARRIERS)('while %s is away, comes, forgets, is killed and comes back,', (name) => {
  test('every email goes out once, and without the broker too', { timeout: 300_000 }, async () => {
    const server = await privateServer(name)
    const dataDirectory = mkdtempSync(join(tmpdir(), 'postrider-storm-'))
    const report = (line: string) => process.stdout.write(`storm on ${name}: ${line}\n`)
    try {
      const storm = await runBrokerStorm({
        databaseUrl: await fileDatabase(),
        dataDirectory,
        server,
        brokerUrl: withPrefix(server.url),
        emails: EMAILS,
        domain: `${name}.test`,
        workers: 4,
        awayMs: 1_500,
        report,
      })
      report(JSON.stringify(storm))
      expect(storm).toMatchObject({ taken: EMAILS, most: 1, states: { done: EMAILS }, left: 0 })
      // Otherwise the broker would have had no part in it.
      expect(storm.published).toBeGreaterThan(0)
      expect(storm.copies).toBeGreaterThan(0)
      // A sweep, what counts as lost, and a slow machine's few seconds.
      for (const ms of storm.caughtUpMs) expect(ms).toBeLessThan(SWEEP_MS + 15_000)
    } finally {
      await server.dispose()
      rmSync(dataDirectory, { recursive: true, force: true })
    }
  })
})
