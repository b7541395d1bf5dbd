import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../src/db/client.js'
import type { BuiltPackage } from '../support/build-package.js'
import { announcedRandom } from '../support/seeded-random.js'
import { fileDatabase } from '../support/services/file-database.js'
import { buildMailProgram } from './mail-process.js'
import { runStorm, type StormOptions } from './storm.js'

let built: BuiltPackage
const dataDirectory = mkdtempSync(join(tmpdir(), 'postrider-kill-'))

beforeAll(async () => {
  built = await buildMailProgram()
})
afterAll(() => {
  built.remove()
  rmSync(dataDirectory, { recursive: true })
})

async function storm(what: string, options: Pick<StormOptions, 'emails' | 'kills' | 'onUncertain'>) {
  const { seed } = announcedRandom(`kills on PostgreSQL, ${what}`)
  const databaseUrl = await fileDatabase()
  const open = () => {
    const db = connect({ connection: { connectionString: databaseUrl }, maxConnections: 2 })
    let closed: Promise<void> | undefined
    return Promise.resolve({ db, close: () => (closed ??= db.close()) })
  }
  const result = await runStorm({ built, databaseUrl, dataDirectory, open, seed, report: (l) => process.stdout.write(`${new Date().toISOString()} ${l}\n`), ...options })
  process.stdout.write(`${what}: ${JSON.stringify(result.counts)}\n`)
  return result
}

describe('while workers and the API are killed and the mail server misbehaves, on PostgreSQL,', () => {
  test('no email goes out twice, none is lost, and only what nobody can know is uncertain', { timeout: 600_000 }, async () => {
    const { broken, counts, ends } = await storm('hold', { emails: 2_500, kills: 50, onUncertain: 'hold' })
    expect(broken).toEqual([])
    expect(ends).toEqual([0, 0, 0, 0])
    // Otherwise the kills would have proved nothing.
    expect(counts['uncertainByKill']).toBeGreaterThan(0)
    expect(counts['lostAnswers']).toBeGreaterThan(0)
  })

  test('with resend none is lost, and only what was uncertain goes out twice, unchanged', { timeout: 600_000 }, async () => {
    const { broken, counts, ends } = await storm('resend', { emails: 600, kills: 15, onUncertain: 'resend' })
    expect(broken).toEqual([])
    expect(ends).toEqual([0, 0, 0, 0])
    expect(counts['takenTwice']).toBeGreaterThan(0)
  })
})
