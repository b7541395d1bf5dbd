import { setTimeout as delay } from 'node:timers/promises'

import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'

import { openEmbedded } from '../../src/db/embedded/open-embedded.js'
import { startOther, temporaryDirectory } from './embedded-processes.js'

const directory = temporaryDirectory()
afterAll(directory.remove)

/** Long enough that some of them hit every part of a first start, the end of it included. */
const FIRST_START_KILLS_AFTER_MS = [400, 1_400, 2_200, 3_000, 3_800].map((ms) => ms + Math.random() * 900)
const COMMIT_KILLS = 10

describe('kill -9 at any moment', () => {
  test('loses nothing that was confirmed and tears no transaction apart, from the very first start on', async () => {
    for (const afterMs of FIRST_START_KILLS_AFTER_MS) {
      const child = startOther('hold', directory.path)
      // Time is what is being tested here: the kill must fall anywhere, not after a known step.
      await delay(afterMs)
      await child.kill()
    }

    const confirmed: string[] = []
    for (let kill = 0; kill < COMMIT_KILLS; kill++) {
      const child = startOther('commit', directory.path, String(kill))
      const enough = 1 + Math.floor(Math.random() * 250)
      await new Promise<void>((resolve, reject) => {
        child.onEvent(() => child.said.length >= enough && resolve())
        void child.exit.then(() => reject(new Error(`round ${kill} ended by itself`)))
      })
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
