import { describe, expect, test } from 'vitest'
import { DATABASE_KINDS } from '../support/test-database.js'
import { until } from '../support/until.js'
import { openKillFixture, type PausedWorker, reachArmed } from './kill-fixture.js'
import { times } from './times.js'

const EMAILS = 8

describe.each(DATABASE_KINDS)('a worker that is frozen beyond its lease, on %s,', (kind) => {
  const fixture = openKillFixture(kind)

  const freeze = async (worker: PausedWorker) => {
    await until(`${EMAILS} conversations wait`, () => worker.waiting() === EMAILS)
    worker.signal('SIGSTOP')
  }

  /** It wakes, and has done all it is going to do about the past when it has sent something new. */
  const thaw = async (worker: PausedWorker, other: PausedWorker) => {
    expect(await other.stop()).toBe(0)
    worker.letGo()
    worker.signal('SIGCONT')
    await fixture.send('new', 1)
    await fixture.settled()
    expect(fixture.copies('new').map(({ door }) => door)).toEqual(['frozen'])
    expect(await worker.stop()).toBe(0)
    const records = await fixture.records('mail')
    return { records, states: records.map(({ state }) => state), copies: fixture.copies('mail') }
  }

  test.each(['greeting', 'data'] as const)('before its arm (%s) sends nothing of it when it wakes', async (pauseAt) => {
    const frozen = await fixture.worker('frozen', { pauseAt })
    await fixture.send('mail', EMAILS)
    await freeze(frozen)
    const other = await fixture.worker('other')
    await fixture.untilState('mail', 'done', EMAILS)
    const { states, copies } = await thaw(frozen, other)
    expect(states).toEqual(times(EMAILS, 'done'))
    expect(copies.map(({ door }) => door)).toEqual(times(EMAILS, 'other'))
    const bodies = fixture.judge.handOvers.filter(({ door, reached }) => door === 'frozen' && reached !== 'envelope')
    // It may have asked for DATA before it noticed; it may not have begun a body.
    expect(bodies.filter(({ reached, recipient }) => reached !== 'go' && recipient.endsWith('@mail.test'))).toEqual([])
  })

  test.each(['greeting', 'data'] as const)(
    'before its arm (%s) cannot take back what another is sending',
    async (pauseAt) => {
      const frozen = await fixture.worker('frozen', { pauseAt })
      await fixture.send('mail', EMAILS)
      await freeze(frozen)
      const other = await fixture.worker('other', { pauseAt: 'dot' })
      await until('another is about to hear its answers', () => other.waiting() === EMAILS)
      frozen.letGo()
      frozen.signal('SIGCONT')
      // It ends when it has said all it had to say about what it once held.
      expect(await frozen.stop()).toBe(0)
      expect((await fixture.records('mail')).map(({ state }) => state)).toEqual(times(EMAILS, 'armed'))
      other.letGo()
      await fixture.settled()
      expect((await fixture.records('mail')).map(({ state }) => state)).toEqual(times(EMAILS, 'done'))
      expect(fixture.copies('mail').map(({ door }) => door)).toEqual(times(EMAILS, 'other'))
    },
  )

  test('between its arm and the body sends nothing, and says so: somebody else sends it', async () => {
    const frozen = await fixture.worker('frozen', { pauseAt: 'data' })
    await fixture.send('mail', 1)
    await reachArmed(fixture, frozen, 'mail')
    const other = await fixture.worker('other')
    await fixture.untilState('mail', 'uncertain', 1)
    frozen.signal('SIGCONT')
    await fixture.untilState('mail', 'done', 1)
    const { copies } = await thaw(frozen, other)
    expect(copies.length).toBe(1)
    expect(fixture.judge.handOvers[0]).toMatchObject({ door: 'frozen', reached: 'go', taken: false })
  })

  test.each(['dot', 'answered'] as const)(
    'after the dot (%s) settles by what it knew, and sends nothing',
    async (when) => {
      const frozen = await fixture.worker('frozen', { pauseAt: 'dot' })
      await fixture.send('mail', EMAILS)
      await freeze(frozen)
      // Whether 250 was said while it slept or is said when it is awake.
      if (when === 'answered') frozen.letGo()
      const other = await fixture.worker('other')
      await fixture.untilState('mail', 'uncertain', EMAILS)
      const { records, states, copies } = await thaw(frozen, other)
      expect(states).toEqual(times(EMAILS, 'done'))
      expect(copies.map(({ door }) => door)).toEqual(times(EMAILS, 'frozen'))
      expect(records.map(({ outcomes }) => outcomes.map(({ outcome }) => outcome))).toEqual(times(EMAILS, ['accepted']))
      const pids = records.flatMap(({ outcomes }) => outcomes.map(({ worker }) => Number(worker.split(':')[1])))
      expect(pids).toEqual(times(EMAILS, frozen.pid))
    },
  )
})
