import { describe, expect, test } from 'vitest'
import { DATABASE_KINDS } from '../support/test-database.js'
import { until } from '../support/until.js'
import { type KillFixture, openKillFixture, type PausedWorker, reachArmed } from './kill-fixture.js'
import { times } from './times.js'

const EMAILS = 8

describe.each(DATABASE_KINDS)('a worker that is killed, on %s,', (kind) => {
  const fixture = openKillFixture(kind)

  const paused = async (worker: PausedWorker) =>
    until(`${EMAILS} conversations wait`, () => worker.waiting() === EMAILS)

  /** Somebody else takes over, and everything comes to rest. */
  const takeOver = async () => {
    const other = await fixture.worker('other')
    await fixture.settled()
    expect(await other.stop()).toBe(0)
    return { records: await fixture.records('mail'), copies: fixture.copies('mail') }
  }

  test('after its claim leaves nothing uncertain', async () => {
    const victim = await fixture.worker('victim', { pauseAt: 'greeting' })
    await fixture.send('mail', EMAILS)
    await paused(victim)
    await fixture.untilState('mail', 'leased', EMAILS)
    await victim.kill()
    const { records, copies } = await takeOver()
    expect(records.map(({ state, rescues }) => [state, rescues])).toEqual(times(EMAILS, ['done', 1]))
    expect(doorsOf(copies)).toEqual(times(EMAILS, 'other'))
  })

  test('before its arm leaves nothing uncertain', async () => {
    const victim = await fixture.worker('victim', { pauseAt: 'data' })
    await fixture.send('mail', EMAILS)
    await paused(victim)
    await victim.kill()
    const { records, copies } = await takeOver()
    expect(records.map(({ state, rescues }) => [state, rescues])).toEqual(times(EMAILS, ['done', 1]))
    expect(doorsOf(copies)).toEqual(times(EMAILS, 'other'))
  })

  test('after its arm and before the body leaves it uncertain, and nobody sends it', async () => {
    const victim = await fixture.worker('victim', { pauseAt: 'data' })
    await fixture.send('mail', 1)
    await reachArmed(fixture, victim, 'mail')
    await victim.kill()
    const { records, copies } = await takeOver()
    expect(records).toMatchObject([{ state: 'uncertain', reasonCode: 'lease_expired', outcomes: [] }])
    expect(copies).toEqual([])
  })

  test('inside the body leaves it uncertain, and nobody sends it', async () => {
    // More than fits between the two ends of a connection, so that the victim is still writing.
    const content = Buffer.alloc(12_000_000, 'large ')
    const victim = await fixture.worker('victim', { pauseAt: 'body' })
    await fixture.send('mail', 1, { attachments: [{ filename: 'large.txt', content }] })
    await until('the body has begun', () => victim.waiting() === 1)
    await victim.kill()
    victim.letGo()
    const { records, copies } = await takeOver()
    expect(records).toMatchObject([{ state: 'uncertain', reasonCode: 'lease_expired' }])
    expect(copies).toEqual([])
  })

  test('after the dot leaves them uncertain: they arrived, and nobody sends them again', async () => {
    const victim = await fixture.worker('victim', { pauseAt: 'dot' })
    await fixture.send('mail', EMAILS)
    await paused(victim)
    await victim.kill()
    await expectUncertain(fixture, takeOver)
  })

  test('after 250 and before it was written down leaves them uncertain, and nobody sends them again', async () => {
    const victim = await fixture.worker('victim', { pauseAt: 'dot' })
    await fixture.send('mail', EMAILS)
    await paused(victim)
    // Frozen first: 250 is said, and the worker cannot be quick enough to write it down before it is killed.
    victim.signal('SIGSTOP')
    victim.letGo()
    await until('250 was said', () => fixture.copies('mail').filter(({ answer }) => answer === 250).length === EMAILS)
    await victim.kill()
    await expectUncertain(fixture, takeOver)
  })
})

const doorsOf = (copies: readonly { door: string }[]) => copies.map(({ door }) => door)

async function expectUncertain(fixture: KillFixture, takeOver: () => Promise<unknown>): Promise<void> {
  await takeOver()
  const records = await fixture.records('mail')
  expect(records.map(({ state, reasonCode }) => [state, reasonCode])).toEqual(
    times(EMAILS, ['uncertain', 'lease_expired']),
  )
  expect(doorsOf(fixture.copies('mail'))).toEqual(times(EMAILS, 'victim'))
}
