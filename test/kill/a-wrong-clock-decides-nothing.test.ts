import { describe, expect, test } from 'vitest'
import { DATABASE_KINDS } from '../support/test-database.js'
import { until } from '../support/until.js'
import { LEASE_MS, openKillFixture } from './kill-fixture.js'
import { times } from './times.js'

const DAY_MS = 86_400_000
const WAIT_MS = 1_500
const EMAILS = 20

describe.each(DATABASE_KINDS)('workers whose clocks are off by a day either way, on %s,', (kind) => {
  const fixture = openKillFixture(kind)
  const preload = new URL('./shift-clock.mjs', import.meta.url).href
  const off = (name: string, byMs: number, settings = {}) =>
    fixture.worker(name, { preload, env: { CLOCK_SHIFT_MS: String(byMs) }, settings })

  test('send nothing early, nothing twice, and keep to the times of the database', async () => {
    const hasty = await off('a day ahead', DAY_MS)
    const late = await off('a day behind', -DAY_MS)
    const soon = new Date(Date.now() + 3_000)
    const tomorrow = new Date(Date.now() + DAY_MS / 2)
    await fixture.send('tomorrow', EMAILS, { scheduledAt: tomorrow })
    await fixture.send('soon', EMAILS, { scheduledAt: soon })
    // Over long ago by one clock, and not for a long time by the other; the database says: not yet.
    await fixture.send('now', EMAILS, { expiresAt: tomorrow })
    await fixture.untilState('now', 'done', EMAILS)
    await fixture.untilState('soon', 'done', EMAILS)
    expect(await hasty.stop()).toBe(0)
    expect(await late.stop()).toBe(0)

    expect((await fixture.records('tomorrow')).map(({ state }) => state)).toEqual(times(EMAILS, 'pending'))
    const offers = fixture.judge.handOvers
    expect(offers.filter(({ recipient }) => recipient.endsWith('@tomorrow.test'))).toEqual([])
    expect(fixture.copies('now').length).toBe(EMAILS)
    expect(fixture.copies('soon').length).toBe(EMAILS)
    for (const { at } of fixture.copies('soon')) expect(at).toBeGreaterThanOrEqual(soon.getTime())
  })

  test.each([DAY_MS, -DAY_MS])('try again when the database says so (%d ms off)', async (byMs) => {
    const worker = await off('worker', byMs, { waitsMs: [WAIT_MS] })
    const refused = new Set<string>()
    worker.door.refuse = ({ recipient }) => (refused.has(recipient) ? null : (refused.add(recipient), 451))
    await fixture.send('mail', EMAILS)
    await fixture.settled()
    expect(await worker.stop()).toBe(0)
    expect(fixture.copies('mail').length).toBe(EMAILS)
    for (const { outcomes } of await fixture.records('mail'))
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(['deferred', 'accepted'])
    for (const { recipient, at } of fixture.copies('mail')) {
      const first = fixture.judge.handOvers.find((offer) => offer.recipient === recipient)!
      expect(at - first.at).toBeGreaterThanOrEqual(WAIT_MS)
    }
  })

  test.each([DAY_MS, -DAY_MS])('hold their leases by the time of the database (%d ms off)', async (byMs) => {
    const { db } = fixture.database
    const victim = await fixture.worker('victim', {
      preload,
      env: { CLOCK_SHIFT_MS: String(byMs) },
      pauseAt: 'dot',
    })
    await fixture.send('mail', 4)
    await until('four are at their dot', () => victim.waiting() === 4)
    const { rows } = await db.query<{ left_ms: number }>(
      `select extract(epoch from expires_at - now())::float8 * 1000 as left_ms from postrider.leases`,
    )
    expect(rows.length).toBeGreaterThan(0)
    for (const { left_ms } of rows) {
      // Half a day is no measure of how punctual it is, but of whose day it is.
      expect(left_ms).toBeGreaterThan(-DAY_MS / 2)
      expect(left_ms).toBeLessThanOrEqual(LEASE_MS)
    }
    await victim.kill()
    const other = await off('other', -byMs)
    await fixture.settled()
    expect((await fixture.records('mail')).map(({ state }) => state)).toEqual(times(4, 'uncertain'))
    expect(fixture.copies('mail').map(({ door }) => door)).toEqual(times(4, 'victim'))
    expect(await other.stop()).toBe(0)
  })
})
