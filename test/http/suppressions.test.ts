import { describe, expect, it } from 'vitest'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'

describe.each(DATABASE_KINDS)('the suppressions of the API, on %s', (kind) => {
  const api = openApi(kind)
  const list = async (query = '') => {
    const { body } = await api.call(`GET /api/suppressions${query}`)
    return [body.data.map(({ email, scope }: { email: string; scope: string }) => `${email} ${scope}`), body.has_more]
  }

  it('keep an address from being mailed until it is allowed again', async () => {
    const added = await api.call('POST /api/suppressions', {
      json: { email: 'Ada@Example.com', detail: 'asked us to' },
    })
    expect(added.body).toEqual({ object: 'suppression', email: 'ada@example.com', scope: 'all', added: true })
    expect((await api.call('POST /api/suppressions', { json: { email: 'ada@example.com' } })).body.added).toBe(false)
    const [only] = (await api.call('GET /api/suppressions')).body.data
    expect(only).toMatchObject({ email: 'ada@example.com', reason: 'manual', detail: 'asked us to' })

    const send = () => api.call('POST /api/emails', { json: { to: 'ADA@example.com', subject: 's', text: 't' } })
    const stopped = await send()
    await api.drain()
    expect((await api.call(`GET /api/emails/${stopped.body.id}`)).body).toMatchObject({
      status: 'suppressed',
      last_event: 'suppressed',
    })
    expect((await api.call('DELETE /api/suppressions/ADA%40example.com')).body).toMatchObject({ deleted: true })
    for (const gone of ['ada@example.com', 'nonsense', '%00', '%F0'])
      expect((await api.call(`DELETE /api/suppressions/${gone}`)).status).toBe(404)
    const sent = await send()
    await api.drain()
    expect((await api.call(`GET /api/emails/${sent.body.id}`)).body.status).toBe('sent')
  })

  it('are added and removed by the hundreds, all or none', async () => {
    const emails = Array.from({ length: 1_000 }, (_, i) => `r${i}@example.com`)
    const post = (path: string, json: object) => api.call(`POST /api/suppressions/batch/${path}`, { json })
    const refused = await post('add', { emails: ['ada@example.com', 'nobody'] })
    expect(refused.body).toMatchObject({ status: 422, errors: [{ pointer: '/emails/1' }] })
    expect(await list()).toEqual([[], false])
    expect((await post('add', { emails, reason: 'complaint' })).body).toEqual({ added: 1_000 })
    expect((await post('add', { emails: [...emails.slice(0, 3), 'R0@example.com', 'new@example.com'] })).body).toEqual({
      added: 1,
    })
    expect((await post('add', { emails: [...emails, 'one@more.org'] })).status).toBe(422)
    expect((await post('remove', { emails: [...emails.slice(1), 'unknown@example.com'] })).body).toEqual({
      removed: 999,
    })
    expect(await list()).toEqual([['new@example.com all', 'r0@example.com all'], false])
    for (const json of [{ emails: [] }, {}, { emails: 'a@b.org' }, { emails: [5] }])
      expect((await post('remove', json)).status).toBe(422)
  })

  it('are paged between addresses, never within one', async () => {
    for (const email of ['a@x.org', 'b@x.org', 'c@x.org'])
      for (const scope of ['all', 'marketing']) await api.call('POST /api/suppressions', { json: { email, scope } })
    expect(await list('?limit=1')).toEqual([['a@x.org all', 'a@x.org marketing'], true])
    expect(await list('?limit=1&after=B@x.org')).toEqual([['c@x.org all', 'c@x.org marketing'], false])
    expect(await list('?limit=2')).toEqual([['a@x.org all', 'a@x.org marketing'], true])
    expect(await list('?limit=3&after=a@x.org')).toEqual([
      ['b@x.org all', 'b@x.org marketing', 'c@x.org all', 'c@x.org marketing'],
      false,
    ])
    expect(await list('?limit=100')).toEqual([expect.objectContaining({ length: 6 }), false])
  })
})
