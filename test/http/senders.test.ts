import { describe, expect, it } from 'vitest'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'

const PASSWORD = 'hunter2-very-secret'

describe.each(DATABASE_KINDS)('the senders of the API, on %s', (kind) => {
  const api = openApi(kind)
  const list = async () =>
    (await api.call('GET /api/senders')).body.data as { id: string; is_default: boolean; address: string }[]

  it('are made, changed and removed, and never show their credentials', async () => {
    const made = await api.call('POST /api/senders', {
      json: { address: 'Sales <sales@sender.test>', smtp_url: `smtp://user:${PASSWORD}@127.0.0.1:2525` },
    })
    expect(made.body).toMatchObject({
      name: 'Sales',
      address: 'sales@sender.test',
      provider: 'smtp',
      has_credentials: true,
    })
    const { id } = made.body
    const changed = await api.call(`PATCH /api/senders/${id}`, { json: { name: null, is_default: true } })
    expect(changed.body).toMatchObject({ name: null, is_default: true, has_credentials: true })
    expect((await list()).filter((sender) => sender.is_default).map((sender) => sender.id)).toEqual([id])
    expect((await api.call(`DELETE /api/senders/${id}`)).body).toMatchObject({ status: 409, code: 'sender_conflict' })
    const [first] = (await list()).filter((sender) => !sender.is_default)
    await api.call(`PATCH /api/senders/${first!.id}`, { json: { is_default: true } })
    expect((await api.call(`DELETE /api/senders/${id}`)).body).toEqual({ object: 'sender', id, deleted: true })
    expect((await api.call(`GET /api/senders/${id}`)).body.code).toBe('sender_not_found')
    for (const { body } of [made, changed]) expect(JSON.stringify(body)).not.toMatch(/hunter2|credentials":"|smtp:/)
  })

  it('are paged', async () => {
    for (let i = 0; i < 3; i++) await api.call('POST /api/senders', { json: { address: `s${i}@sender.test` } })
    const addresses = (await list()).map(({ address }) => address)
    expect(addresses.slice(0, 3)).toEqual(['s2@sender.test', 's1@sender.test', 's0@sender.test'])
    const page = await api.call('GET /api/senders?limit=2')
    expect([page.body.data.length, page.body.has_more]).toEqual([2, true])
    const next = await api.call(`GET /api/senders?limit=2&after=${page.body.data[1].id}`)
    expect([next.body.data[0].address, next.body.has_more]).toEqual(['s0@sender.test', false])
    const back = await api.call(`GET /api/senders?limit=1&before=${next.body.data[0].id}`)
    expect([back.body.data[0].address, back.body.has_more]).toEqual(['s1@sender.test', true])
  })

  it('are refused with what is wrong with them', async () => {
    const wrong = async (json: object) => (await api.call('POST /api/senders', { json })).body
    expect(await wrong({ address: 'nobody' })).toMatchObject({
      code: 'sender_invalid',
      errors: [{ pointer: '/address' }],
    })
    expect(await wrong({})).toMatchObject({ status: 422, errors: [{ pointer: '/address', detail: 'is needed' }] })
    expect(await wrong({ address: 'a@b.org', smtpurl: 'x' })).toMatchObject({
      errors: [{ detail: expect.stringMatching(/did you mean smtp_url/) }],
    })
    const url = await wrong({ address: 'a@b.org', smtp_url: `http://user:${PASSWORD}@host` })
    expect(url).toMatchObject({ errors: [{ pointer: '/smtp_url' }] })
    expect(JSON.stringify(url)).not.toContain(PASSWORD)
    const [configured] = await list()
    const own = { smtp_url: 'smtp://127.0.0.1:2525' }
    expect((await api.call(`PATCH /api/senders/${configured!.id}`, { json: own })).body).toMatchObject({
      code: 'sender_invalid',
      errors: [{ pointer: '/smtp_url', detail: expect.stringContaining('SMTP_URL') }],
    })
    expect(await wrong({ address: 'TESTS@sender.test' })).toMatchObject({ status: 409, code: 'sender_conflict' })
    const [only] = await list()
    const { body } = await api.call(`PATCH /api/senders/${only!.id}`, { json: { is_default: false } })
    expect(body).toMatchObject({ errors: [{ pointer: '/is_default' }] })
  })

  it('are paused, which makes their emails wait, and resumed', async () => {
    const { id } = (await list())[0]!
    const paused = await api.call(`POST /api/senders/${id}/pause`, { json: { reason: 'moving house' } })
    expect(paused.body).toMatchObject({ paused_reason: 'moving house', paused_code: 'paused' })
    const sent = await api.call('POST /api/emails', { json: { to: 'ada@example.com', subject: 's', text: 't' } })
    await api.drain()
    const waiting = await api.call(`GET /api/emails/${sent.body.id}`)
    expect(waiting.body).toMatchObject({
      status: 'scheduled',
      explain: 'It waits because its sender is paused: moving house.',
    })
    expect((await api.call(`POST /api/senders/${id}/resume`)).body.paused_at).toBeNull()
    await api.drain()
    expect((await api.call(`GET /api/emails/${sent.body.id}`)).body.status).toBe('sent')
    expect((await api.call(`POST /api/senders/${id}/pause`)).body.paused_reason).toBe('paused by POSTRIDER_API_KEY')
  })

  it('are tested without sending anything', async () => {
    const { id } = (await list())[0]!
    expect((await api.call(`POST /api/senders/${id}/test`)).body).toMatchObject({ ok: true })
    api.answer('greeting', '554 go away')
    const { body } = await api.call(`POST /api/senders/${id}/test`)
    expect(body).toMatchObject({ ok: false, evidence: { phase: 'greeting', code: 554 } })
    expect(api.server.taken).toHaveLength(0)
  })
})
