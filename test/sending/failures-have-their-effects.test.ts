import { describe, expect, it } from 'vitest'
import { listSenders } from '../../src/db/senders.js'
import { listSuppressions } from '../../src/db/suppressions.js'
import { DEFAULT_WORKSPACE } from '../../src/id.js'
import { releaseSender } from '../../src/operations/senders.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { letter, openMail, SECOND } from './mail-fixture.js'

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const fixture = openMail(kind)
  const waitOf = async (id: string) => {
    const { deliveries, attempts } = await fixture.get(id)
    return Math.round((deliveries[0]!.runAt.getTime() - attempts.at(-1)!.at.getTime()) / SECOND)
  }

  it('transient: retried after 30, 60, 120, 240 s, then failed for good, every attempt kept', async () => {
    fixture.answer('rcpt', '450 4.2.1 try again later')
    const { id } = await fixture.mail.emails.send(letter())
    for (const wait of [30, 60, 120, 240]) {
      await fixture.drain()
      expect(await fixture.delivery(id)).toMatchObject({ status: 'retry_scheduled' })
      expect(await waitOf(id)).toBe(wait)
      // Not to the last second: the clock runs on by itself, on a busy machine for longer than one.
      await fixture.shiftClock((wait - 20) * SECOND)
      const before = (await fixture.get(id)).attempts.length
      await fixture.drain()
      expect((await fixture.get(id)).attempts).toHaveLength(before)
      await fixture.shiftClock(20 * SECOND)
    }
    await fixture.drain()
    const email = await fixture.get(id)
    expect(email).toMatchObject({ status: 'failed', deliveries: [{ attempts: 5, reasonCode: 'attempts_exhausted' }] })
    expect(email.attempts).toHaveLength(5)
    for (const attempt of email.attempts)
      expect(attempt).toMatchObject({
        outcome: 'deferred',
        failure: 'transient',
        phase: 'rcpt',
        code: 450,
        enhancedCode: '4.2.1',
      })
    expect(await listSuppressions(fixture.mail.context.db, DEFAULT_WORKSPACE, { after: null, limit: 10 })).toEqual([])
    // A person retries: everything starts over.
    fixture.server.script = () => undefined
    expect(await fixture.mail.emails.retry(id)).toMatchObject({ deliveries: [{ attempts: 0, reason: null }] })
    await fixture.drain()
    expect((await fixture.get(id)).status).toBe('sent')
  })

  it('recipient: failed at once, and the address is not mailed again', async () => {
    fixture.answer('rcpt', '550 5.1.1 no such user')
    const { id } = await fixture.mail.emails.send(letter())
    await fixture.drain()
    expect(await fixture.delivery(id)).toMatchObject({ status: 'failed', attempts: 1, reasonCode: 'recipient' })
    const again = await fixture.mail.emails.send(letter('ADA@example.com'))
    fixture.server.script = () => undefined
    await fixture.drain()
    expect((await fixture.get(again.id)).status).toBe('suppressed')
    expect(fixture.server.taken).toHaveLength(0)
  })

  it('message: failed at once, nobody suppressed', async () => {
    fixture.answer('dot', '554 5.6.0 cannot parse')
    const { id } = await fixture.mail.emails.send(letter())
    await fixture.drain()
    expect(await fixture.delivery(id)).toMatchObject({ status: 'failed', reasonCode: 'message' })
    expect(await listSuppressions(fixture.mail.context.db, DEFAULT_WORKSPACE, { after: null, limit: 10 })).toEqual([])
  })

  it('sender: this one fails, the sender is paused with the reason, the rest waits and goes out when it is resumed', async () => {
    fixture.answer('mail', '530 5.7.0 authentication required')
    const first = await fixture.mail.emails.send(letter())
    await fixture.drain()
    const rest = await Promise.all(
      ['b', 'c', 'd'].map((name) => fixture.mail.emails.send(letter(`${name}@example.com`))),
    )
    expect((await fixture.get(first.id)).status).toBe('failed')
    fixture.server.script = () => undefined
    await fixture.drain()
    for (const { id } of rest) expect(await fixture.delivery(id)).toMatchObject({ status: 'scheduled', attempts: 0 })
    const [sender] = await listSenders(fixture.mail.context.db, DEFAULT_WORKSPACE)
    expect(sender!.pausedReason).toContain('authentication required')
    await releaseSender(fixture.mail.context, DEFAULT_WORKSPACE, sender!.id)
    await fixture.drain()
    expect(fixture.server.taken).toHaveLength(3)
  })

  it('throttled: no attempt is burned, the sender is held back for as long as asked, then goes on', async () => {
    fixture.answer('mail', '421 4.7.0 too many messages, try again in 60 seconds', 1)
    const { id } = await fixture.mail.emails.send(letter())
    await fixture.drain()
    expect(await fixture.delivery(id)).toMatchObject({
      status: 'retry_scheduled',
      attempts: 0,
      reasonCode: 'throttled',
    })
    const other = await fixture.mail.emails.send(letter('b@example.com'))
    await fixture.shiftClock(58 * SECOND)
    await fixture.drain()
    expect(fixture.server.taken).toHaveLength(0)
    expect(await fixture.delivery(other.id)).toMatchObject({ status: 'scheduled' })
    await fixture.shiftClock(3 * SECOND)
    await fixture.drain()
    expect(fixture.server.taken).toHaveLength(2)
  })

  it('a server that is not there: retried, nothing lost', async () => {
    const gone = await fixture.another({ smtpUrl: 'smtp://127.0.0.1:1' })
    const { id } = await gone.emails.send(letter())
    await gone.tick(20_000)
    expect((await fixture.get(id)).attempts).toMatchObject([{ phase: 'connect', failure: 'transient', code: null }])
    await fixture.shiftClock(30 * SECOND)
    await fixture.drain()
    expect((await fixture.get(id)).status).toBe('sent')
  })

  it('uses one Message-ID and one Date for every attempt', async () => {
    fixture.answer('dot', '451 4.3.0 later', 2)
    fixture.server.takesAtDot = true
    await fixture.mail.emails.send(letter())
    for (let round = 0; round < 3; round++) {
      await fixture.drain()
      await fixture.shiftClock(300 * SECOND)
    }
    expect(fixture.server.taken.length).toBeGreaterThanOrEqual(2)
    const heads = fixture.server.taken.map(({ raw }) => /^(Message-ID|Date): .*$/gim.exec(raw.toString())?.[0])
    expect(new Set(heads).size).toBe(1)
    expect(new Set(fixture.server.taken.map(({ raw }) => raw.toString())).size).toBe(1)
  })
})
