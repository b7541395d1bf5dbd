import { generateKeyPairSync } from 'node:crypto'
import { drizzle } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { readInbox } from '../../src/db/captured-emails.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { letter, openMail } from './mail-fixture.js'

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const fixture = openMail(kind)

  it('is handed over once per recipient, with everything kept', async () => {
    const { mail, server } = fixture
    const sent = await mail.emails.send({
      to: ['Ada <ada@example.com>', 'bob@example.com'],
      cc: 'cc@example.com',
      bcc: ['secret@example.com', 'ADA@example.com'],
      replyTo: 'reply@example.com',
      subject: 'Grüße',
      html: '<p>Hello <b>you</b></p>',
      headers: { 'X-Order': '7' },
      tags: [{ name: 'kind', value: 'test' }],
    })
    expect(sent).toEqual({ id: expect.stringMatching(/^em_[0-9a-f]{32}$/) as string, status: 'scheduled' })
    await fixture.drain()
    expect(server.taken.map(({ rcpt }) => rcpt).toSorted()).toEqual(
      ['ada@example.com', 'bob@example.com', 'cc@example.com', 'secret@example.com'].map((to) => `RCPT TO:<${to}>`),
    )
    const [first] = server.taken
    const raw = first!.raw.toString('latin1')
    expect(raw).not.toContain('secret@example.com')
    for (const other of server.taken) expect(other.raw.equals(first!.raw)).toBe(true)
    const email = await fixture.get(sent.id)
    expect(email).toMatchObject({ status: 'sent', text: 'Hello you', tags: [{ name: 'kind', value: 'test' }] })
    expect(raw).toContain(`Message-ID: ${email.messageId}`)
    expect(email.attempts).toHaveLength(4)
    expect(email.attempts[0]).toMatchObject({ outcome: 'accepted', phase: 'reply', code: 250, failure: null })
    expect(email.attempts[0]!.remoteHost).toBe(`127.0.0.1:${server.port}`)
  })

  it('waits for its time, and never goes out after it', async () => {
    const { mail, server } = fixture
    const later = await mail.emails.send({ ...letter(), scheduledAt: new Date(Date.now() + 3_600_000) })
    const expired = await mail.emails.send({ ...letter(), expiresAt: new Date(Date.now() + 1_000) })
    await fixture.shiftClock(2_000)
    await fixture.drain()
    expect(server.taken).toHaveLength(0)
    expect((await fixture.get(expired.id)).status).toBe('expired')
    await fixture.shiftClock(3_600_000)
    await fixture.drain()
    expect((await fixture.get(later.id)).status).toBe('sent')
    expect(server.taken).toHaveLength(1)
  })

  it('does not go out when it was canceled, and says so when it is too late', async () => {
    const { mail, server } = fixture
    const { id } = await mail.emails.send(letter())
    expect((await mail.emails.cancel(id)).status).toBe('canceled')
    await fixture.drain()
    expect(server.taken).toHaveLength(0)
    const other = await mail.emails.send(letter())
    await fixture.drain()
    await expect(mail.emails.cancel(other.id)).rejects.toMatchObject({ code: 'email_conflict' })
    await expect(mail.emails.cancel('em_nobody')).rejects.toMatchObject({ code: 'email_not_found' })
  })

  it('is one email for any number of calls with one key', async () => {
    const { mail } = fixture
    const sent = await Promise.all(
      Array.from({ length: 50 }, () => mail.emails.send({ ...letter(), idempotencyKey: 'order-7' })),
    )
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1)
    await fixture.drain()
    expect(fixture.server.taken).toHaveLength(1)
    await expect(mail.emails.send({ ...letter('b@example.com'), idempotencyKey: 'order-7' })).rejects.toMatchObject({
      code: 'idempotency_mismatch',
    })
    const batch = () => mail.emails.sendBatch([letter('a@x.org'), letter('b@x.org')], { idempotencyKey: 'batch-1' })
    expect(await batch()).toEqual(await batch())
    await fixture.drain()
    expect(fixture.server.taken).toHaveLength(3)
  })

  it('is refused whole when a part of it is wrong', async () => {
    const { mail } = fixture
    const wrong = await mail.emails
      .send({ to: ['ok@example.com', 'a@b\r\nBcc: x@y.org'], subject: 'a\nb', headers: { Bcc: 'x@y.org' } })
      .catch((error: unknown) => error)
    expect(wrong).toMatchObject({ code: 'email_invalid' })
    const paths = (wrong as { problems: { path: unknown[] }[] }).problems.map(({ path }) => path.join('.'))
    expect(paths).toEqual(expect.arrayContaining(['to.1', 'subject', 'headers.Bcc', 'text']))
    await expect(mail.emails.sendBatch([letter(), { ...letter(), to: 'nobody' }])).rejects.toMatchObject({
      problems: [{ path: [1, 'to'] }],
    })
    expect(await mail.emails.list()).toHaveLength(0)
  })

  it('goes out while another process only accepts, and the other way round', async () => {
    const accepting = await fixture.another()
    const { id } = await accepting.emails.send(letter())
    await fixture.mail.start()
    await fixture.server.when(() => fixture.server.taken.length === 1)
    const second = await accepting.emails.send(letter('b@example.com'))
    await fixture.server.when(() => fixture.server.taken.length === 2)
    expect(id).not.toBe(second.id)
  })

  it('goes through the sender whose address it comes from, and through the default otherwise', async () => {
    const { mail, server } = fixture
    const { createSender } = await import('../../src/operations/senders.js')
    const sales = await createSender(mail.context, WORKSPACE, {
      address: 'Sales <sales@sender.test>',
      smtpUrl: `smtp://127.0.0.1:${server.port}`,
      dkim: { domain: 'sender.test', selector: 'mail', privateKey: PRIVATE_KEY },
    })
    expect(sales.credentials).not.toContain('127.0.0.1')
    const own = await mail.emails.send({ ...letter(), from: 'sales@sender.test' })
    const other = await mail.emails.send({ ...letter(), from: 'Anybody <else@sender.test>' })
    await fixture.drain()
    expect((await fixture.get(own.id)).senderId).toBe(sales.id)
    expect((await fixture.get(other.id)).senderId).not.toBe(sales.id)
    expect(new Set(server.taken.map(({ mail: from }) => from.split(' ')[1]))).toEqual(
      new Set(['FROM:<else@sender.test>', 'FROM:<sales@sender.test>']),
    )
    // The one with a key signs; the default has none.
    const signed = server.taken.map(({ raw }) =>
      /^DKIM-Signature:[^]*?d=sender\.test;[^]*?s=mail;/m.test(raw.toString()),
    )
    expect(signed.filter(Boolean)).toHaveLength(1)
  })

  it('stays in the dev inbox of a sender that captures, whatever server the settings name', async () => {
    const { mail, server } = fixture
    const { createSender } = await import('../../src/operations/senders.js')
    await createSender(mail.context, WORKSPACE, { address: 'dev@sender.test', provider: 'capture' })
    const { id } = await mail.emails.send({ ...letter(), from: 'dev@sender.test' })
    await fixture.drain()
    expect((await fixture.get(id)).status).toBe('sent')
    expect(server.taken).toHaveLength(0)
    expect(await readInbox(mail.context.db, WORKSPACE)).toMatchObject([{ recipient: 'ada@example.com' }])
  })
})

describe.each(DATABASE_KINDS)('a process without SMTP_URL beside one that has it, on %s', (kind) => {
  const fixture = openMail(kind)

  it('sends nothing and calls nothing sent: it leaves it to the other', async () => {
    await fixture.mail.tick()
    const other = await fixture.another({ smtpUrl: null, inlineDeadlineMs: 5_000 })
    await other.tick()
    const { id } = await other.emails.send(letter())
    await other.tick()
    const inline = await other.emails.send({ ...letter('b@example.com'), delivery: 'inline' })
    expect(inline.status).not.toBe('sent')
    expect((await fixture.get(id)).status).toBe('scheduled')
    expect(await readInbox(fixture.mail.context.db, WORKSPACE)).toEqual([])
    await fixture.shiftClock(6_000)
    await fixture.drain()
    expect(fixture.server.taken).toHaveLength(2)
  })
})

const PRIVATE_KEY = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey

const WORKSPACE = '00000000-0000-7000-8000-000000000000'

describe("in the caller's own transaction, an email exists if and only if that commits", () => {
  const fixture = openMail('PostgreSQL')
  const url = () => (fixture.database.location as { databaseUrl: string }).databaseUrl

  it('with a pg client', async () => {
    const client = new pg.Client({ connectionString: url() })
    await client.connect()
    try {
      await client.query('begin')
      const lost = await fixture.mail.emails.send(letter(), { tx: client })
      await client.query('rollback')
      await client.query('begin')
      const kept = await fixture.mail.emails.send({ ...letter(), idempotencyKey: 'k' }, { tx: client })
      expect(await fixture.mail.emails.get(kept.id)).toBeNull()
      await client.query('commit')
      expect(await fixture.mail.emails.get(lost.id)).toBeNull()
      expect(await fixture.mail.emails.send({ ...letter(), idempotencyKey: 'k' })).toMatchObject({ id: kept.id })
      await fixture.drain()
      expect(fixture.server.taken).toHaveLength(1)
    } finally {
      await client.end()
    }
  })

  it('with a transaction of Drizzle, waking the workers when it commits', async () => {
    const pool = new pg.Pool({ connectionString: url() })
    const db = drizzle(pool)
    await fixture.mail.start()
    try {
      await db
        .transaction(async (tx) => {
          await fixture.mail.emails.send(letter('lost@example.com'), { tx })
          throw new Error('changed our mind')
        })
        .catch(() => undefined)
      await db.transaction((tx) =>
        fixture.mail.emails.send({ ...letter('kept@example.com'), html: '$1 <b>$2</b>' }, { tx }),
      )
      await fixture.server.when(() => fixture.server.taken.length === 1)
      expect(fixture.server.taken[0]!.rcpt).toContain('kept@example.com')
    } finally {
      await pool.end()
    }
  })
})
