import { describe, expect, it } from 'vitest'
import { BODY_LIMIT } from '../../src/http/read-body.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'

const LETTER = { to: 'ada@example.com', subject: 'Hello', text: 'Hello.' }

describe.each(DATABASE_KINDS)('what is wrong with a request is said, on %s', (kind) => {
  const api = openApi(kind)
  const post = (json: unknown, headers = {}) => api.call('POST /api/emails', { json, headers })
  /** The pointers of all that is wrong with an email. */
  const pointers = async (json: object): Promise<string[]> => {
    const { status, body } = await post({ ...LETTER, ...json })
    expect(status, JSON.stringify(json).slice(0, 200)).toBe(422)
    return body.errors.map(({ pointer }: { pointer: string }) => pointer)
  }
  const nothingAccepted = async () => expect((await api.call('GET /api/emails')).body.data).toEqual([])

  it('points at every part that is wrong, in the names of the request', async () => {
    expect(
      await pointers({
        to: 'nobody',
        reply_to: 'x',
        attachments: [{ filename: 'a/b', content: '%', content_type: 'x' }],
      }),
    ).toEqual(['/to', '/reply_to', '/attachments/0/filename', '/attachments/0/content_type', '/attachments/0/content'])
    expect(await pointers({ to: ['ada@example.com', 'nobody'], cc: [5] })).toEqual(['/cc/0'])
    expect(await pointers({ to: ['ada@example.com', 'nobody'] })).toEqual(['/to/1'])
    expect(await pointers({ to: undefined })).toEqual(['/to'])
    expect(await pointers({ to: {} })).toEqual(['/to'])
    expect(await pointers({ to: [] })).toEqual(['/to'])
    expect(await pointers({ scheduled_at: 'tomorrow' })).toEqual(['/scheduled_at'])
    expect(await pointers({ expires_at: '2026-13-01T00:00:00Z' })).toEqual(['/expires_at'])
    expect(await pointers({ headers: { 'Message-ID': '<x@y>', 'X-Camel/Case': 'x' } })).toEqual([
      '/headers/Message-ID',
      '/headers/X-Camel~1Case',
    ])
    expect(await pointers({ tags: [{ name: 'a b', value: 'ok' }] })).toEqual(['/tags/0/name'])
    expect(await pointers({ sender_id: 'snd_1' })).toEqual(['/sender_id'])
    expect(await pointers({ delivery: 'carrier', on_uncertain: 'guess', retry_policy: 'never' })).toEqual([
      '/delivery',
      '/on_uncertain',
      '/retry_policy',
    ])
    expect(await pointers({ calendar: { method: 'REQUEST' } })).toEqual(['/calendar'])
    expect(await pointers({ calendar: { method: 'REQUEST', event: { uid: 'u', title: 't', starts_at: 5 } } })).toEqual([
      '/calendar/event/starts_at',
      '/calendar/event/ends_at',
      '/calendar/event/organizer',
    ])
    await nothingAccepted()
  })

  it('refuses a day the calendar does not have, wherever an instant is taken', async () => {
    const detailOf = async (json: object) => (await post({ ...LETTER, ...json })).body.errors[0].detail as string
    expect(await detailOf({ scheduled_at: '2027-02-30T10:00:00Z' })).toBe(
      'names a day that does not exist: 2027-02 has 28 days',
    )
    expect(await detailOf({ expires_at: '2099-02-29T10:00:00Z' })).toMatch(/2099-02 has 28 days/)
    expect(await detailOf({ scheduled_at: '2027-02-01T24:00:00Z' })).toMatch(/hours go up to 23/)
    expect(await detailOf({ scheduled_at: 'in 1 min' })).toMatch(/words are not read/)
    const event = { uid: 'u', title: 't', starts_at: '2027-02-28T10:00:00Z', organizer: { address: 'a@example.com' } }
    expect(
      await pointers({ calendar: { method: 'REQUEST', event: { ...event, ends_at: '2027-02-30T10:00:00Z' } } }),
    ).toEqual(['/calendar/event/ends_at'])
    await nothingAccepted()
  })

  it('refuses fields it does not know, and says which was meant', async () => {
    const detailOf = async (json: object) => (await post({ ...LETTER, ...json })).body.errors[0].detail as string
    expect(await detailOf({ replyto: 'x@y.org' })).toBe('is not a known field (did you mean reply_to?)')
    expect(await detailOf({ scheduledAt: '2030-01-01T00:00:00Z' })).toBe(
      'is not a known field (did you mean scheduled_at?)',
    )
    expect(await detailOf({ wholly_unknown: 1 })).toBe('is not a known field')
    expect(await detailOf({ attachments: [{ filename: 'a', path: 'https://example.com/a' }] })).toBe('must be base64')
    expect(await detailOf({ attachments: [{ filename: 'a', content: '', path: 'https://example.com/a' }] })).toMatch(
      /^is not supported: nothing is fetched/,
    )
    expect(await detailOf({ template: { id: 'x' } })).toMatch(/cannot be combined with html or text/)
    expect(await pointers({ tags: [{ name: 'a', value: 'b', vlue: 'c' }] })).toEqual(['/tags/0/vlue'])
    const { body } = await post({ ...LETTER, a: 1, b: 2, subjct: 3 })
    expect(body.errors).toEqual([
      { in: 'body', pointer: '/a', detail: 'is not a known field' },
      { in: 'body', pointer: '/b', detail: 'is not a known field' },
      { in: 'body', pointer: '/subjct', detail: 'is not a known field (did you mean subject?)' },
    ])
  })

  it('refuses what is no JSON', async () => {
    for (const body of ['{', '', '{"to":}', 'null,', '\u0000', '{"a":1}}'])
      expect((await api.call('POST /api/emails', { body })).status, body).toBe(400)
    for (const body of ['null', '5', '"x"', '[]', 'true'])
      expect((await api.call('POST /api/emails', { body })).status, body).toBe(422)
    const secret = await api.call('POST /api/emails', { body: '{"html": secret-token' })
    expect(JSON.stringify(secret.body)).not.toContain('secret-token')
  })

  it('refuses what is not in UTF-8, instead of sending question marks', async () => {
    const [before, after] = JSON.stringify({ ...LETTER, subject: '|' }).split('|') as [string, string]
    const latin1 = Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xfe]), Buffer.from(after)])
    for (const headers of [{}, { 'content-length': String(latin1.length) }])
      expect((await api.call('POST /api/emails', { body: latin1, headers })).body).toMatchObject({
        status: 400,
        code: 'json_malformed',
        detail: expect.stringContaining('not UTF-8'),
      })
    for (const charset of ['latin1', 'iso-8859-1', '"utf-16"'])
      expect(
        await api.call('POST /api/emails', {
          body: JSON.stringify(LETTER),
          headers: { 'content-type': `application/json; charset=${charset}` },
        }),
      ).toMatchObject({ status: 415, body: { code: 'content_type_unsupported' } })
    await nothingAccepted()
    for (const charset of ['UTF-8', '"utf-8"', 'utf8', 'utf-8; version=1'])
      expect(
        await api.call('POST /api/emails', {
          body: `\uFEFF${JSON.stringify({ ...LETTER, subject: 'Grüße \uFFFD' })}`,
          headers: { 'content-type': `application/json; charset=${charset}` },
        }),
      ).toMatchObject({ status: 202 })
  })

  it('refuses what is not sent as JSON', async () => {
    const body = JSON.stringify(LETTER)
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/jsonx',
      '',
    ])
      expect((await api.call('POST /api/emails', { body, headers: { 'content-type': type } })).status, type).toBe(415)
    for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/vnd.api+json'])
      expect((await api.call('POST /api/emails', { body, headers: { 'content-type': type } })).status, type).toBe(202)
  })

  it('keeps to its limits', async () => {
    const long = 'a'.repeat(BODY_LIMIT)
    expect((await api.call('POST /api/emails', { body: JSON.stringify({ ...LETTER, html: long }) })).status).toBe(413)
    const announced = { 'content-length': String(BODY_LIMIT + 1) }
    expect((await api.call('POST /api/emails', { json: LETTER, headers: announced })).status).toBe(413)
    const batch = Array.from({ length: 101 }, () => LETTER)
    const tooMany = await api.call('POST /api/emails/batch', { json: batch })
    expect(tooMany.body).toMatchObject({
      status: 422,
      detail: 'the body may hold at most 100 emails.',
      errors: [{ pointer: '', detail: 'may hold at most 100 emails' }],
    })
    expect((await api.call('POST /api/emails/batch', { json: [] })).status).toBe(422)
    expect(await pointers({ to: Array.from({ length: 51 }, (_, i) => `r${i}@example.com`) })).toEqual(['/to'])
    expect(await pointers({ subject: 'x'.repeat(999) })).toEqual(['/subject'])
    expect(await pointers({ tags: Array.from({ length: 21 }, () => ({ name: 'a', value: 'b' })) })).toEqual(['/tags'])
    const file = { filename: 'a', content: 'A'.repeat(4_240_000) }
    expect(await pointers({ attachments: Array.from({ length: 8 }, () => file) }).then(([first]) => first)).toBe(
      '/attachments',
    )
    const headers = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`X-${i}`, 'x']))
    expect((await pointers({ headers }))[0]).toMatch(/^\/headers/)
    const problems = await post({ ...LETTER, to: Array.from({ length: 900 }, () => 5) })
    expect(problems.body.errors).toHaveLength(100)
    await nothingAccepted()
  })

  it('lets no field write a header of its own', async () => {
    for (const ending of ['\r\n', '\n', '\r', '\u2028', '\u0000', '\v', '\u0085']) {
      const evil = `x${ending}Bcc: victim@example.com`
      const fields = [
        { from: `${evil} <a@b.org>` },
        { from: `a@b.org${ending}` },
        { to: evil },
        { to: [`Ada${ending} <ada@example.com>`] },
        { cc: evil },
        { bcc: evil },
        { reply_to: evil },
        { subject: evil },
        { headers: { 'X-A': evil } },
        { headers: { [`X-A${ending}Bcc`]: 'x' } },
        { tags: [{ name: evil, value: 'x' }] },
        { tags: [{ name: 'x', value: evil }] },
        { attachments: [{ filename: evil, content: '' }] },
        { attachments: [{ filename: 'x', content: '', content_type: evil }] },
        { attachments: [{ filename: 'x', content: '', content_id: evil }] },
        { sender_id: evil },
        { scheduled_at: `2030-01-01T00:00:00Z${ending}x` },
        { retry_policy: evil },
      ]
      for (const field of fields) expect((await post({ ...LETTER, ...field })).status, JSON.stringify(field)).toBe(422)
    }
    await nothingAccepted()
  })

  it('is not confused by names that mean something to JavaScript', async () => {
    const raw = (member: string) => `{"to":"ada@example.com","subject":"s","text":"t",${member}}`
    for (const member of [
      '"__proto__":{"html":"x"}',
      '"constructor":{"prototype":{"html":"x"}}',
      '"toString":"x"',
      '"headers":{"__proto__":"x"}',
      '"headers":{"constructor":"x"}',
      '"tags":[{"name":"a","value":"b","__proto__":{"x":1}}]',
      '"calendar":{"__proto__":{"method":"REQUEST","ics":"x"}}',
    ])
      expect((await api.call('POST /api/emails', { body: raw(member) })).status, member).toBe(422)
    expect(({} as { html?: string }).html).toBeUndefined()
    await nothingAccepted()
  })

  it('says what there is instead of what was asked for', async () => {
    expect((await api.call('GET /api/nothing')).body).toMatchObject({ status: 404, code: 'not_found' })
    expect((await api.call('GET /', { headers: { accept: 'application/json' } })).status).toBe(404)
    expect((await api.call('GET /api/emails/')).status).toBe(404)
    const put = await api.call('PUT /api/emails/em_1', { json: {} })
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, PATCH, HEAD'])
    const del = await api.call('DELETE /api/emails')
    expect([del.status, del.headers.get('allow')]).toEqual([405, 'POST, GET, HEAD'])
    expect((await api.call('POST /livez')).status).toBe(405)
    expect((await api.call('OPTIONS /api/emails')).headers.get('access-control-allow-origin')).toBeNull()
  })

  it('names each request, by the name it came with if that is one', async () => {
    const idOf = async (given: string) =>
      (await api.call('GET /api/emails', { headers: { 'x-request-id': given } })).headers.get('x-request-id')
    expect(await idOf('req-1.2:3=')).toBe('req-1.2:3=')
    for (const given of ['a b', '"', 'x'.repeat(129), '<script>']) expect(await idOf(given)).toMatch(/^[0-9a-f-]{36}$/)
  })
})
