import { describe, expect, it } from 'vitest'
import { DATABASE_KINDS } from '../support/test-database.js'
import { letter, openMail, SECOND } from './mail-fixture.js'

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const fixture = openMail(kind, { inlineDeadlineMs: 700 })
  const inline = (to?: string) => fixture.mail.emails.send({ ...letter(to), delivery: 'inline' })

  it('answers sent when it is', async () => {
    const { id, status } = await inline()
    expect(status).toBe('sent')
    expect(fixture.server.taken).toHaveLength(1)
    expect(await fixture.get(id)).toMatchObject({ status: 'sent', attempts: [{ inline: true, outcome: 'accepted' }] })
  })

  it('after a failure at T: pending, attempts 0, then 30, 60, 120, 240, 480 s, five worker attempts, failed', async () => {
    fixture.answer('mail', '451 4.3.0 not now')
    const { id, status } = await inline()
    expect(status).toBe('retry_scheduled')
    const waits: number[] = []
    for (let worker = 0; worker <= 5; worker++) {
      const { attempts, deliveries } = await fixture.get(id)
      expect(attempts).toHaveLength(worker + 1)
      expect(deliveries[0]!.attempts).toBe(worker)
      if (worker === 5) break
      expect(deliveries[0]!.state).toBe('pending')
      const waitMs = deliveries[0]!.runAt.getTime() - attempts.at(-1)!.at.getTime()
      waits.push(Math.round(waitMs / SECOND))
      await fixture.shiftClock(waitMs)
      await fixture.drain()
    }
    expect(waits).toEqual([30, 60, 120, 240, 480])
    expect(await fixture.delivery(id)).toMatchObject({ state: 'failed', attempts: 5 })
  })

  it('does not keep the caller when the server hangs before it was given the message', async () => {
    fixture.answer('mail', { do: 'hang' })
    // Nothing but the deadline can end this: the server hangs for ever, and the provider would wait for minutes.
    const { id, status } = await inline()
    expect(status).toBe('retry_scheduled')
    expect(await fixture.delivery(id)).toMatchObject({ state: 'pending', attempts: 0, reasonCode: 'inline_deadline' })
    fixture.server.script = () => undefined
    await fixture.shiftClock(30 * SECOND)
    await fixture.drain()
    expect(await fixture.get(id)).toMatchObject({ status: 'sent' })
    expect(fixture.server.taken).toHaveLength(1)
  })

  it('says sending when the server has it and does not answer, and what becomes of it is written later', async () => {
    fixture.answer('dot', { do: 'hang' })
    const { id, status } = await inline()
    expect(status).toBe('sending')
    await expect.poll(async () => (await fixture.get(id)).status, { timeout: 10_000 }).toBe('uncertain')
    expect(fixture.server.taken).toHaveLength(1)
  })

  it('does not fail because the server is down', async () => {
    const down = await fixture.another({ smtpUrl: 'smtp://127.0.0.1:1' })
    expect(await down.emails.send({ ...letter(), delivery: 'inline' })).toMatchObject({ status: 'retry_scheduled' })
  })

  it('is taken over by a worker when the accepting process dies', async () => {
    const { context } = fixture.mail
    const { sendEmails } = await import('../../src/operations/send-emails.js')
    // Accepted and leased, and then nothing: what a killed process leaves behind.
    const died = { ...context, sendNow: () => Promise.resolve() }
    const { emails } = await sendEmails(died, WORKSPACE, [{ ...letter(), delivery: 'inline' }])
    expect(emails).toMatchObject([{ status: 'sending' }])
    await fixture.drain()
    expect(fixture.server.taken).toHaveLength(0)
    await fixture.shiftClock(61 * SECOND)
    await fixture.drain()
    expect(fixture.server.taken).toHaveLength(1)
  })

  it('with a key: one email, and the second call hears what became of the first', async () => {
    const send = () => fixture.mail.emails.send({ ...letter(), delivery: 'inline', idempotencyKey: 'reset-1' })
    const first = await send()
    expect(await send()).toEqual(first)
    expect(fixture.server.taken).toHaveLength(1)
  })

  it('is refused with a scheduled time', async () => {
    await expect(
      fixture.mail.emails.send({ ...letter(), delivery: 'inline', scheduledAt: new Date() }),
    ).rejects.toMatchObject({ code: 'email_invalid' })
  })
})

const WORKSPACE = '00000000-0000-7000-8000-000000000000'
