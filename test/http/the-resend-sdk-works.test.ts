import { Resend } from 'resend'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Serving, serve } from '../../src/http/serve.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { API_KEY, openApi } from './api-fixture.js'

describe.each(DATABASE_KINDS)('the official Resend SDK works when it is pointed here, on %s', (kind) => {
  const api = openApi(kind)
  let serving: Serving
  let resend: Resend
  beforeEach(async () => {
    serving = await serve(api.mail, { host: '127.0.0.1', port: 0 })
    resend = new Resend(API_KEY, { baseUrl: `${serving.url}/api` })
  })
  afterEach(() => serving.close())

  const letter = { from: 'Acme <acme@sender.test>', to: 'ada@example.com', subject: 'Hello', html: '<p>Hello</p>' }

  it('sends, with everything it can say of an email', async () => {
    const { data, error } = await resend.emails.send({
      ...letter,
      to: ['ada@example.com', 'Grace <grace@example.com>'],
      cc: 'cc@example.com',
      bcc: ['bcc@example.com'],
      replyTo: ['back@sender.test'],
      headers: { 'X-Entity-Ref-ID': '1' },
      tags: [{ name: 'category', value: 'welcome' }],
      attachments: [
        { filename: 'a.txt', content: Buffer.from('hello') },
        { filename: 'b.png', content: 'aGk=', contentType: 'image/png', contentId: 'logo' },
      ],
    })
    expect(error).toBeNull()
    await api.drain()
    expect(api.server.taken).toHaveLength(4)
    const got = await resend.emails.get(data!.id)
    expect(got.error).toBeNull()
    expect(got.data).toMatchObject({
      object: 'email',
      id: data!.id,
      from: 'Acme <acme@sender.test>',
      to: ['ada@example.com', 'Grace <grace@example.com>'],
      cc: ['cc@example.com'],
      bcc: ['bcc@example.com'],
      reply_to: ['back@sender.test'],
      subject: 'Hello',
      html: '<p>Hello</p>',
      last_event: 'sent',
      tags: [{ name: 'category', value: 'welcome' }],
      scheduled_at: null,
    })
    expect(new Date(got.data!.created_at).getTime()).toBeGreaterThan(0)
    expect(got.data!.text).toContain('Hello')
  })

  it('sends once under one idempotency key', async () => {
    const send = () => resend.emails.send(letter, { idempotencyKey: 'welcome/1' })
    const [first, second] = [await send(), await send()]
    expect(second.data!.id).toBe(first.data!.id)
    expect(second.headers!['idempotency-replayed']).toBe('true')
  })

  it('sends batches, strict and permissive', async () => {
    const strict = await resend.batch.send([letter, { ...letter, to: ['grace@example.com'] }])
    expect(strict.error).toBeNull()
    expect(strict.data!.data).toHaveLength(2)
    const refused = await resend.batch.send([letter, { ...letter, to: 'nobody' }])
    expect(refused.data).toBeNull()
    expect(refused.error).toMatchObject({ name: 'email_invalid', statusCode: 422 })
    const partly = await resend.batch.send([letter, { ...letter, to: 'nobody' }], { batchValidation: 'permissive' })
    expect(partly.data!.data).toHaveLength(1)
    expect(partly.data!.errors).toEqual([{ index: 1, message: expect.stringMatching(/^to must be one address/) }])
    const once = () => resend.batch.send([letter], { idempotencyKey: 'batch/1' })
    expect((await once()).data).toEqual((await once()).data)
  })

  it('lists, in pages', async () => {
    for (let i = 0; i < 3; i++) await resend.emails.send({ ...letter, subject: `No ${i}` })
    const first = await resend.emails.list({ limit: 2 })
    expect(first.data).toMatchObject({
      object: 'list',
      has_more: true,
      data: [{ subject: 'No 2' }, { subject: 'No 1' }],
    })
    const next = await resend.emails.list({ limit: 2, after: first.data!.data[1]!.id })
    expect(next.data).toMatchObject({ has_more: false, data: [{ subject: 'No 0', last_event: 'queued' }] })
    const back = await resend.emails.list({ before: next.data!.data[0]!.id })
    expect(back.data!.data.map(({ subject }) => subject)).toEqual(['No 2', 'No 1'])
    expect((await resend.emails.list()).data!.data).toHaveLength(3)
  })

  it('moves a scheduled email and cancels it', async () => {
    const { data } = await resend.emails.send({ ...letter, scheduledAt: '2040-01-01T00:00:00.000Z' })
    const moved = await resend.emails.update({ id: data!.id, scheduledAt: '2041-01-01T00:00:00.000Z' })
    expect(moved.data).toMatchObject({ object: 'email', id: data!.id })
    expect((await resend.emails.get(data!.id)).data).toMatchObject({
      scheduled_at: '2041-01-01T00:00:00.000Z',
      last_event: 'scheduled',
    })
    expect((await resend.emails.cancel(data!.id)).data).toMatchObject({ object: 'email', id: data!.id })
    expect((await resend.emails.get(data!.id)).data!.last_event).toBe('canceled')
  })

  it('says in its own words what is wrong', async () => {
    const { error } = await resend.emails.send({ ...letter, to: 'nobody' })
    expect(error).toMatchObject({
      name: 'email_invalid',
      statusCode: 422,
      message: expect.stringMatching(/^to must be/),
    })
    expect((await resend.emails.get('em_1')).error).toMatchObject({
      name: 'email_not_found',
      message: 'There is no such email.',
    })
    const remote = { ...letter, attachments: [{ filename: 'a', path: 'https://example.com/a.pdf' }] }
    expect((await resend.emails.send(remote)).error!.message).toMatch(/attachments\[0\]\.path is not supported/)
    const stranger = new Resend('re_nobody', { baseUrl: `${serving.url}/api` })
    expect((await stranger.emails.send(letter)).error).toMatchObject({ name: 'unauthorized', statusCode: 401 })
  })
})
