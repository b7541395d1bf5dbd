import { randomBytes } from 'node:crypto'
import PostalMime from 'postal-mime'
import { describe, expect, it } from 'vitest'
import { EMAIL_LIMITS } from '../../src/domain/new-email.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'

const LETTER = { to: 'Ada <ada@example.com>', subject: 'Hello', text: 'Hello.' }

describe.each(DATABASE_KINDS)('an email, on %s,', (kind) => {
  // The real ones: a busy machine needs its time for megabytes.
  const api = openApi(kind, { smtpTimeouts: {} })

  it('carries attachments as large as it says, and not a byte more', async () => {
    const file = randomBytes(EMAIL_LIMITS.attachmentBytes)
    const attachments = (content: Buffer) => [{ filename: 'film.bin', content: content.toString('base64') }]
    const { id } = (await api.call('POST /api/emails', { json: { ...LETTER, attachments: attachments(file) } })).body
    const more = { ...LETTER, attachments: attachments(Buffer.concat([file, file.subarray(0, 1)])) }
    expect((await api.call('POST /api/emails', { json: more })).body).toMatchObject({
      status: 422,
      errors: [{ pointer: '/attachments', detail: 'at most 25000000 bytes together' }],
    })
    const broken = { ...LETTER, attachments: [{ filename: 'a', content: `${'aGkh'.repeat(2_000_000)}!` }] }
    expect((await api.call('POST /api/emails', { json: broken })).body).toMatchObject({
      errors: [{ pointer: '/attachments/0/content', detail: 'must be base64' }],
    })
    await api.drain()
    expect((await api.call(`GET /api/emails/${id}`)).body.status).toBe('sent')
    const taken = await PostalMime.parse(api.server.taken[0]!.raw)
    expect(Buffer.from(taken.attachments[0]!.content as ArrayBuffer).equals(file)).toBe(true)
  })
})
