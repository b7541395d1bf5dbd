import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { armActions } from '../../src/db/arm-actions.js'
import { claimActions, FIRST_LANE } from '../../src/db/claim-actions.js'
import { createOutcomeNotes } from '../../src/engine/outcome-notes.js'
import { DEFAULT_WORKSPACE, newId, readId } from '../../src/id.js'
import { recordEvent } from '../../src/operations/record-event.js'
import { silent } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { letter, openMail, SECOND } from './mail-fixture.js'
import { heldUnder } from '../support/held-under.js'

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const fixture = openMail(kind)

  const makeUncertain = async (options = {}) => {
    fixture.answer('dot', { do: 'drop' }, 1)
    const { id } = await fixture.mail.emails.send({ ...letter(), ...options })
    await fixture.drain()
    return id
  }

  it('a drop after the dot is held, however often the workers look', async () => {
    const id = await makeUncertain()
    for (let round = 0; round < 3; round++) {
      await fixture.shiftClock(3_600 * SECOND)
      await fixture.drain()
    }
    const email = await fixture.get(id)
    expect(email).toMatchObject({ status: 'uncertain', attempts: [{ outcome: 'uncertain', failure: 'undecidable' }] })
    expect(fixture.server.taken).toHaveLength(1)
  })

  it('a worker that died after arming leaves it uncertain', async () => {
    const { id } = await fixture.mail.emails.send(letter())
    const { db } = fixture.mail.context
    const token = newId()
    const { actions } = await claimActions(db, { token, worker: 'w', limit: 1, leaseMs: 1_000, cursor: FIRST_LANE })
    await armActions(db, heldUnder(token, [actions[0]!.id]))
    await fixture.shiftClock(2 * SECOND)
    await fixture.drain()
    expect(await fixture.delivery(id)).toMatchObject({ status: 'uncertain', reasonCode: 'lease_expired' })
    expect(fixture.server.taken).toHaveLength(0)
  })

  it('a worker that has to stop before the server answers says so at once, and ends', async () => {
    fixture.answer('dot', { do: 'hang' })
    const worker = await fixture.another({ smtpTimeouts: {} })
    await worker.start()
    const { id } = await worker.emails.send(letter())
    await fixture.server.when(() => fixture.server.taken.length === 1)
    await worker.stop({ graceMs: 100 })
    expect(await fixture.get(id)).toMatchObject({
      status: 'uncertain',
      attempts: [{ outcome: 'uncertain', phase: 'reply', reply: expect.stringContaining('we had to stop') as string }],
    })
    expect(await fixture.delivery(id)).toMatchObject({ reasonCode: 'no_reply' })
  })

  it('an answer that comes while a worker stops is written down', async () => {
    const worker = await fixture.another()
    fixture.answer('dot', { do: 'drip', text: '250 2.0.0 taken\r\n', everyMs: 40 })
    await worker.start()
    const { id } = await worker.emails.send(letter())
    await fixture.server.when(() => fixture.server.taken.length === 1)
    await worker.stop()
    expect(await fixture.get(id)).toMatchObject({ status: 'sent', attempts: [{ outcome: 'accepted' }] })
  })

  it('a person says it was sent, or sends it again under the same Message-ID', async () => {
    const first = await makeUncertain()
    expect(await fixture.mail.emails.resolve(first, 'sent')).toMatchObject({ status: 'sent' })
    const second = await makeUncertain()
    expect(fixture.server.taken).toHaveLength(2)
    await fixture.mail.emails.resolve(second, 'resend')
    await fixture.drain()
    expect(await fixture.get(second)).toMatchObject({ status: 'sent' })
    expect(fixture.server.taken).toHaveLength(3)
    expect(fixture.server.taken[2]!.raw.equals(fixture.server.taken[1]!.raw)).toBe(true)
    expect((await fixture.get(second)).events).toMatchObject([{ type: 'resolved_by_resending' }])
    await expect(fixture.mail.emails.resolve(second, 'sent')).rejects.toMatchObject({ code: 'email_conflict' })
  })

  it('is sent again by itself when its sender chose so, and that ends', async () => {
    fixture.answer('dot', { do: 'drop' })
    const { id } = await fixture.mail.emails.send({ ...letter(), onUncertain: 'resend' })
    for (let round = 0; round < 10; round++) {
      await fixture.drain()
      await fixture.shiftClock(600 * SECOND)
    }
    expect(await fixture.delivery(id)).toMatchObject({ status: 'uncertain', attempts: 5 })
    expect(fixture.server.taken).toHaveLength(5)
    const other = await makeUncertain({ onUncertain: 'resend' })
    await fixture.drain()
    await fixture.shiftClock(30 * SECOND)
    await fixture.drain()
    expect((await fixture.get(other)).status).toBe('sent')
  })

  it.each(['delivered', 'bounced', 'replied', 'opened'])('is settled as sent by a %s event', async (type) => {
    const id = await makeUncertain()
    const { messageId } = await fixture.get(id)
    expect(await recordEvent(fixture.mail.context, DEFAULT_WORKSPACE, { type, messageId })).toMatchObject({
      settled: 1,
    })
    expect(await fixture.get(id)).toMatchObject({ status: 'sent', events: [{ type }] })
  })

  it('is not settled by what proves nothing, or by another workspace', async () => {
    const id = await makeUncertain()
    const emailId = readId('em', id)!
    expect(await recordEvent(fixture.mail.context, DEFAULT_WORKSPACE, { type: 'noted', emailId })).toMatchObject({
      settled: 0,
    })
    await expect(recordEvent(fixture.mail.context, newId(), { type: 'delivered', emailId })).rejects.toMatchObject({
      code: 'email_not_found',
    })
    expect((await fixture.get(id)).status).toBe('uncertain')
  })

  describe('a note of an accepted hand-over, made while the database was away', () => {
    const directory = mkdtempSync(join(tmpdir(), 'postrider-notes-'))
    afterAll(() => rmSync(directory, { recursive: true }))

    const die = async () => {
      const { id } = await fixture.mail.emails.send(letter())
      const { db } = fixture.mail.context
      const token = newId()
      const { actions } = await claimActions(db, { token, worker: 'w', limit: 1, leaseMs: 1_000, cursor: FIRST_LANE })
      const actionId = actions[0]!.id
      await armActions(db, heldUnder(token, [actionId]))
      const attempt = {
        id: newId(),
        outcome: 'accepted' as const,
        failure: null,
        phase: 'reply' as const,
        code: 250,
        enhancedCode: null,
        reply: 'ok',
        remoteHost: null,
        durationMs: 1,
        worker: 'w',
        inline: false,
      }
      // A process that cannot be alive: numbers end below this.
      createOutcomeNotes(directory, 'host:99999999:aaaaaa', silent).write({
        actionId,
        token,
        outcome: { kind: 'done', attempt },
      })
      return id
    }
    const replay = () => createOutcomeNotes(directory, 'host:1:bbbbbb', silent).replay(fixture.mail.context.db)

    it('is replayed by the next process, before or after the lease has run out', async () => {
      const early = await die()
      expect(await replay()).toBe(1)
      expect(await fixture.get(early)).toMatchObject({ status: 'sent', attempts: [{ outcome: 'accepted' }] })
      const late = await die()
      await fixture.shiftClock(3_600 * SECOND)
      await fixture.drain()
      expect((await fixture.get(late)).status).toBe('uncertain')
      expect(await replay()).toBe(1)
      expect((await fixture.get(late)).status).toBe('sent')
      expect(readdirSync(directory)).toEqual([])
    })

    it('does not overwrite what somebody decided meanwhile', async () => {
      const id = await die()
      await fixture.shiftClock(3_600 * SECOND)
      await fixture.drain()
      await fixture.mail.emails.resolve(id, 'resend')
      expect(await replay()).toBe(0)
      expect((await fixture.get(id)).status).toBe('scheduled')
    })
  })
})
