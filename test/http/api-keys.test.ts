import { describe, expect, it } from 'vitest'
import { DATABASE_KINDS } from '../support/test-database.js'
import { API_KEY, openApi } from './api-fixture.js'

describe.each(DATABASE_KINDS)('API keys, on %s', (kind) => {
  const api = openApi(kind)
  const make = async (name = 'shop', scopes = ['send', 'read']) =>
    (await api.call('POST /api/api-keys', { json: { name, scopes } })).body as {
      id: string
      key: string
      prefix: string
    }

  it('are shown once, work at once, and are revoked at once', async () => {
    const { id, key, prefix } = await make()
    expect(key).toMatch(/^pr_[\w-]{43}$/)
    expect(key.startsWith(prefix)).toBe(true)
    expect((await api.call('GET /api/workspaces/current', { key })).body).toMatchObject({
      object: 'workspace',
      name: 'default',
      key: { name: 'shop', scopes: ['send', 'read'] },
    })
    const { body: list } = await api.call('GET /api/api-keys')
    expect(list.data).toMatchObject([{ id, name: 'shop', prefix, scopes: ['send', 'read'], revoked_at: null }])
    expect(JSON.stringify(list)).not.toContain(key)
    expect((await api.call(`DELETE /api/api-keys/${id}`)).body.revoked_at).toMatch(/Z$/)
    expect((await api.call('GET /api/emails', { key })).status).toBe(401)
    expect((await api.call('GET /api/api-keys')).body.data[0].revoked_at).toMatch(/Z$/)
  })

  it('revoked by another process stop working within moments', async () => {
    const { id, key } = await make()
    const other = await api.another()
    expect((await api.call('GET /api/emails', { key })).status).toBe(200)
    const { status } = await other.fetch(
      new Request(`http://localhost/api/api-keys/${id}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${API_KEY}` },
      }),
    )
    expect(status).toBe(200)
    await expect
      .poll(async () => (await api.call('GET /api/emails', { key })).status, { timeout: 7_000, interval: 250 })
      .toBe(401)
  })

  it('remember when they were last used, written when the process ends at the latest', async () => {
    const { id, key } = await make()
    const other = await api.another()
    await other.fetch(new Request('http://localhost/api/emails', { headers: { authorization: `Bearer ${key}` } }))
    await other.stop()
    const { body } = await api.call('GET /api/api-keys')
    expect(body.data.find((one: { id: string }) => one.id === id).last_used_at).toMatch(/Z$/)
  })

  it('are refused when they could do nothing, or anything', async () => {
    for (const [json, pointer] of [
      [{ name: '', scopes: ['send'] }, '/name'],
      [{ name: 'x', scopes: [] }, '/scopes'],
      [{ name: 'x', scopes: ['root'] }, '/scopes/0'],
      [{ name: 'a\nb', scopes: ['send'] }, '/name'],
      [{ scopes: ['send'] }, '/name'],
      [{ name: 'x', scopes: ['send'], workspace: 'other' }, '/workspace'],
    ])
      expect((await api.call('POST /api/api-keys', { json })).body).toMatchObject({
        status: 422,
        errors: [{ pointer }],
      })
  })

  it('are read from the header in every spelling of it, and from nowhere else', async () => {
    const { key } = await make()
    const asked = async (authorization: string) =>
      (await api.call('GET /api/emails', { key: null, headers: { authorization } })).status
    for (const good of [`Bearer ${key}`, `bearer ${key}`, `BEARER   ${key} `]) expect(await asked(good)).toBe(200)
    for (const bad of [
      key,
      `Basic ${key}`,
      `Bearer${key}`,
      `Bearer ${key} x`,
      `Bearer ${key.slice(0, -1)}`,
      `Bearer ${'x'.repeat(9_000)}`,
    ])
      expect(await asked(bad)).toBe(401)
    expect((await api.call(`GET /api/emails?api_key=${key}`, { key: null })).status).toBe(401)
  })
})
