import { describe, expect, it } from 'vitest'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from '../http/api-fixture.js'
import { makeAudience } from './audience-fixture.js'

describe.each(DATABASE_KINDS)('nobody who opted out is revived, on %s', (kind) => {
  const api = openApi(kind)
  const suppressed = async (email: string) => {
    const { body } = await api.call('GET /api/suppressions?limit=100')
    return body.data.flatMap((each: { email: string; reason: string }) => (each.email === email ? [each.reason] : []))
  }

  it('by being imported or added again, before or after being removed', async () => {
    const { list, add, importCsv, members, idOf, subscribe, counts } = await makeAudience(api)
    await add({ email: 'Ada@Example.com' }, { email: 'grace@example.com' })
    expect((await subscribe('ada@example.com', false)).body).toMatchObject({
      email: 'Ada@example.com',
      subscribed: false,
    })
    await api.call('POST /api/suppressions', { json: { email: 'grace@example.com', reason: 'complaint' } })
    const stays = async () => {
      expect(await members()).toEqual(['(ada@example.com)', 'grace@example.com'])
      expect(await counts()).toEqual([2, 1])
      expect(await suppressed('grace@example.com')).toEqual(['complaint'])
    }

    const file = 'email\nADA@example.com\ngrace@EXAMPLE.com\n'
    expect((await importCsv(file)).body).toMatchObject({ created: 0, updated: 2, joined: 0, opted_out: 2 })
    await stays()
    expect((await add({ email: 'ada@example.com' })).body).toMatchObject({ updated: 1, joined: 0, opted_out: 1 })
    await api.call('POST /api/contacts', { json: { email: 'ada@example.com', name: 'Ada' } })
    await stays()

    for (const email of ['ada@example.com', 'grace@example.com'])
      expect((await api.call(`DELETE /api/contacts/${await idOf(email)}`)).body.deleted).toBe(true)
    expect(await members()).toEqual([])
    expect((await importCsv(file)).body).toMatchObject({ created: 2, joined: 2, opted_out: 2 })
    expect(await members()).toEqual(['(ada@example.com)', 'grace@example.com'])
    await api.call(`DELETE /api/contacts/${await idOf('ada@example.com')}`)
    expect((await add({ email: 'ada@example.com' })).body).toMatchObject({ created: 1, joined: 1, opted_out: 1 })
    await stays()

    await api.call(`DELETE /api/lists/${list}/contacts/${await idOf('ada@example.com')}`)
    expect(await members()).toEqual(['grace@example.com'])
    expect((await importCsv(file)).body).toMatchObject({ joined: 1, opted_out: 2 })
    await importCsv('email,subscribed\nada@example.com,true\n')
    expect((await members())[0]).toBe('(ada@example.com)')
  })

  it('by changing the address, which takes along what was ended under the old one', async () => {
    const { add, members, idOf, subscribe } = await makeAudience(api)
    const other = await makeAudience(api, 'Other')
    await add({ email: 'old@example.com' }, { email: 'bounced@example.com' })
    await subscribe('old@example.com', false)
    for (const [email, reason] of [
      ['old@example.com', 'unsubscribe'],
      ['bounced@example.com', 'hard_bounce'],
    ])
      await api.call('POST /api/suppressions', { json: { email, reason } })
    const rename = async (email: string, to: string) =>
      expect((await api.call(`PATCH /api/contacts/${await idOf(email)}`, { json: { email: to } })).status).toBe(200)
    await rename('old@example.com', 'New@example.com')
    await rename('bounced@example.com', 'mended@example.com')
    expect(await members()).toEqual(['(new@example.com)', 'mended@example.com'])
    expect(await suppressed('new@example.com')).toEqual(['unsubscribe'])
    // What bounced was a mailbox, not a person.
    expect(await suppressed('mended@example.com')).toEqual([])
    // Whoever takes the old address later is not subscribed either; other lists never heard of it.
    await add({ email: 'old@example.com' })
    expect(await members()).toContain('(old@example.com)')
    await other.add({ email: 'new@example.com' })
    expect(await other.members()).toEqual(['new@example.com'])
    // And back again.
    await rename('mended@example.com', 'third@example.com')
    await api.call(`DELETE /api/contacts/${await idOf('old@example.com')}`)
    await rename('third@example.com', 'old@example.com')
    expect(await members()).toContain('(old@example.com)')
  })

  it('but by somebody who says so', async () => {
    const { add, members, subscribe, counts } = await makeAudience(api)
    await add({ email: 'ada@example.com' })
    await subscribe('ada@example.com', false)
    await subscribe('ada@example.com', false)
    expect(await counts()).toEqual([1, 0])
    expect((await subscribe('ada@example.com', true)).body.subscribed).toBe(true)
    expect(await members()).toEqual(['ada@example.com'])
    expect(await counts()).toEqual([1, 1])
  })
})
