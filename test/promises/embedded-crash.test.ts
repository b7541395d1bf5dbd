import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'

import { openEmbedded } from '../../src/db/embedded/open-embedded.js'
import { startOther, temporaryDirectory } from './embedded-processes.js'

const directory = temporaryDirectory()
afterAll(directory.remove)

const unfinished = join(directory.path, 'data.new')
const entriesOf = (path: string) => (existsSync(path) ? readdirSync(path).length : 0)

/** Moments of a first start, in order, seen from outside: a clock would miss the short ones on a slow machine. */
const FIRST_START_MOMENTS: [string, () => boolean][] = [
  ['the directory was made', () => existsSync(unfinished)],
  ['the first files are there', () => entriesOf(unfinished) > 0],
  ['half of the files are there', () => entriesOf(unfinished) >= 12],
  ['all files are there and are being flushed', () => entriesOf(unfinished) >= 22],
  ['it was just given its name', () => existsSync(join(directory.path, 'data'))],
]
const COMMIT_KILLS = 11
/** A first start is seconds of work, and this file begins together with others that are. */
const PATIENCE_MS = 120_000

describe('kill -9', () => {
  test('at any moment of the very first start leaves a directory that starts', { timeout: 600_000 }, async () => {
    for (const [moment, reached] of FIRST_START_MOMENTS) {
      const child = startOther('hold', directory.path)
      await until(reached, `first start: ${moment}`)
      await child.kill()
    }
  })

  test('during commits loses nothing confirmed and tears no transaction apart', { timeout: 900_000 }, async () => {
    const confirmed: string[] = []
    for (let kill = 0; kill < COMMIT_KILLS; kill++) {
      const child = startOther('commit', directory.path, String(kill))
      const enough = 1 + Math.floor(Math.random() * 250)
      await until(() => child.said.length >= enough, `round ${kill}: ${enough} commits`)
      await child.kill()
      confirmed.push(...child.said.map((event) => event['committed'] as string))
    }

    const db = await openEmbedded({ directory: directory.path })
    const client = new pg.Client({ ...db.socket, user: 'postgres', database: 'postgres' })
    await client.connect()
    const left = new Set((await client.query('select id from left_side')).rows.map((row: { id: string }) => row.id))
    const right = new Set((await client.query('select id from right_side')).rows.map((row: { id: string }) => row.id))
    await client.end()
    await db.close()

    expect(confirmed.length).toBeGreaterThanOrEqual(COMMIT_KILLS)
    expect(confirmed.filter((id) => !left.has(id) || !right.has(id))).toEqual([])
    expect([...left].filter((id) => !right.has(id))).toEqual([])
    expect([...right].filter((id) => !left.has(id))).toEqual([])
  })
})

/** Looks often enough to catch moments of a few milliseconds, and names the step that never came. */
async function until(reached: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (!reached()) {
    if (performance.now() > deadline) throw new Error(`did not happen within ${PATIENCE_MS / 1_000} s: ${what}`)
    await delay(1)
  }
}
