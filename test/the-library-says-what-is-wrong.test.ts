import { drizzle } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPostrider, type NewEmail, PostriderError, type PostriderOptions } from '../src/index.js'
import { createTestPostrider, type TestPostrider } from '../src/testing/index.js'
import { fileDatabase } from './support/services/file-database.js'

const LETTER = { to: 'ada@example.com', subject: 'Hello', text: 'Hello.' }

const refusalOf = async (call: () => Promise<unknown>): Promise<PostriderError> => {
  const error: unknown = await call().then(
    () => new Error('was accepted'),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(PostriderError)
  return error as PostriderError
}

describe('createPostrider', () => {
  it.each<[object | string, string, RegExp]>([
    [
      { databaseURL: 'postgres://h/d' },
      'setting_unknown',
      /^databaseURL is not an option .*\(did you mean databaseUrl\?\)/,
    ],
    [{ DATABASE_URL: 'postgres://h/d' }, 'setting_unknown', /did you mean databaseUrl/],
    [{ port: 3400 }, 'setting_unknown', /^port is not an option of createPostrider\.$/],
    [{ databaseUrl: 'nope' }, 'setting_invalid', /^databaseUrl must be a URL like postgres:\/\//],
    [{ databaseUrl: new URL('postgres://h/d') }, 'setting_invalid', /^databaseUrl must be a URL like postgres:\/\//],
    ['postgres://h/d', 'setting_invalid', /takes an object/],
  ])('refuses %j', async (options, code, words) => {
    const error = await refusalOf(() => createPostrider(options as PostriderOptions))
    expect(error).toMatchObject({ code, message: expect.stringMatching(words) })
  })
})

describe.each(['embedded', 'PostgreSQL'])('the library, on %s', (kind) => {
  let test: TestPostrider
  let databaseUrl = ''

  beforeAll(async () => {
    databaseUrl = await fileDatabase()
    test = await createTestPostrider(kind === 'embedded' ? {} : { databaseUrl, secret: 'a secret of the tests' })
  })
  afterAll(() => test.close())

  it.each<[object, string]>([
    [{ reply_to: 'x@example.com' }, 'reply_to is not a known field here (did you mean replyTo?)'],
    [{ scheduled_at: '2030-01-01T00:00:00Z' }, 'scheduled_at is not a known field here (did you mean scheduledAt?)'],
    [{ idempotency_key: 'a' }, 'idempotency_key is not a known field here'],
    [
      { attachments: [{ filename: 'a', content: '', content_type: 'text/plain' }] },
      'attachments[0].content_type is not',
    ],
    [{ tags: [{ name: 'a', valu: 'b' }] }, 'tags[0].valu is not a known field here (did you mean value?)'],
    [{ calendar: { method: 'REQUEST', event: { starts_at: 1 } } }, 'calendar.event.starts_at is not a known field'],
  ])('refuses an email with %j', async (more, words) => {
    const email = { ...LETTER, ...more } as NewEmail
    const error = await refusalOf(() => test.mail.emails.send(email))
    expect(error).toMatchObject({ code: 'email_invalid', message: expect.stringContaining(words) })
    const batch = await refusalOf(() => test.mail.emails.sendBatch([LETTER, email]))
    expect(batch.problems[0]!.path[0]).toBe(1)
    expect(await test.mail.emails.list()).toEqual([])
  })

  it('refuses a key beside the email instead of in it, where it would keep nothing from being sent twice', async () => {
    const beside = { idempotencyKey: 'a' } as object
    const error = await refusalOf(() => test.mail.emails.send(LETTER, beside))
    expect(error.message).toContain('options.idempotencyKey is not a known field here')
    expect(
      (await refusalOf(() => test.mail.emails.sendBatch([LETTER], { idempotencykey: 'a' } as object))).message,
    ).toContain('did you mean idempotencyKey?')
  })

  it('refuses what is no transaction, and takes what is one', async () => {
    const pool = new pg.Pool({ connectionString: databaseUrl })
    try {
      for (const tx of [pool, drizzle(pool), {}] as pg.PoolClient[]) {
        const error = await refusalOf(() => test.mail.emails.send(LETTER, { tx }))
        expect(error).toMatchObject({ code: 'transaction_invalid', message: expect.stringContaining('BEGIN') })
        expect(await refusalOf(() => test.mail.actions.schedule([], { tx }))).toMatchObject({
          code: 'transaction_invalid',
        })
      }
      expect(await test.mail.emails.list()).toEqual([])
    } finally {
      await pool.end()
    }
  })

  it('moves an email to another time, but not past its end, nor to no time at all', async () => {
    const { emails } = test.mail
    const { id } = await emails.send({
      ...LETTER,
      scheduledAt: new Date('2040-01-01T00:00:00Z'),
      expiresAt: '2041-01-01T00:00:00Z',
    })
    expect(await refusalOf(() => emails.reschedule(id, new Date('2041-01-01T00:00:00Z')))).toMatchObject({
      code: 'email_invalid',
      problems: [
        { path: ['scheduledAt'], detail: 'must be before the email expires, which is at 2041-01-01 00:00:00 UTC' },
      ],
    })
    expect(await refusalOf(() => emails.reschedule(id, new Date('nonsense')))).toMatchObject({ code: 'email_invalid' })
    expect(await refusalOf(() => emails.reschedule(id, '2040-02-30T00:00:00Z'))).toMatchObject({
      code: 'email_invalid',
    })
    const moved = await emails.reschedule(id, '2040-02-29T00:00:00Z')
    expect(moved.scheduledAt).toEqual(new Date('2040-02-29T00:00:00Z'))
    expect((await emails.cancel(id)).status).toBe('canceled')
  })
})
