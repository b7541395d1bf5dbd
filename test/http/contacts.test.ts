import { describe, expect, it } from 'vitest'
import { searchContacts } from '../../src/db/contacts.js'
import { DEFAULT_WORKSPACE } from '../../src/id.js'
import { makeAudience } from '../audience/audience-fixture.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'

describe.each(DATABASE_KINDS)('the contacts and lists of the API, on %s', (kind) => {
  const api = openApi(kind)
  const save = (json: object) => api.call('POST /api/contacts', { json })

  it('have one contact per address: made once, then merged', async () => {
    const made = await save({
      email: 'Ada <Ada@Example.com>',
      attributes: { plan: 'pro', tags: ['a'] },
      timezone: 'UTC',
    })
    expect(made).toMatchObject({ status: 201, body: { email: 'Ada@example.com', name: 'Ada', timezone: 'UTC' } })
    const merged = await save({ email: 'ada@example.com', attributes: { plan: 'free', age: 36, tags: null } })
    expect(merged).toMatchObject({
      status: 200,
      body: { id: made.body.id, name: 'Ada', timezone: 'UTC', warnings: [] },
    })
    expect(merged.body.attributes).toEqual({ plan: 'free', age: 36, tags: ['a'] })
    const changed = await api.call(`PATCH /api/contacts/${made.body.id}`, {
      json: { name: null, attributes: { plan: null, age: 37 }, timezone: 'Mars/Olympus' },
    })
    expect(changed.body).toMatchObject({ name: null, timezone: null, warnings: [expect.stringContaining('Mars')] })
    expect(changed.body.attributes).toEqual({ age: 37, tags: ['a'] })
    await save({ email: 'grace@example.com', name: 'Grace' })
    const taken = await api.call(`PATCH /api/contacts/${made.body.id}`, { json: { email: 'GRACE@example.com' } })
    expect(taken.body).toMatchObject({ status: 409, code: 'contact_conflict' })
    const list = async (query: string) =>
      (await api.call(`GET /api/contacts?${query}`)).body.data.map(({ email }: { email: string }) => email)
    expect(await list('q=GRA')).toEqual(['grace@example.com'])
    expect(await list('email=ADA@example.com')).toEqual(['ada@example.com'])
    expect(await list('limit=1')).toEqual(['grace@example.com'])
    expect(await list(`before=${made.body.id}`)).toEqual(['grace@example.com'])
    await save({ email: 'cb@example.com', name: 'Charlotte Brontë' })
    for (const q of ['BRONTë', 'charl', 'te B'])
      expect(await list(`q=${encodeURIComponent(q)}`)).toEqual(['cb@example.com'])
  })

  it('are found by part of a name, so many looked at a time, whichever way one pages', async () => {
    for (let i = 0; i < 23; i++)
      await save({ email: `p${i}@example.com`, name: i % 3 === 0 ? `Fern ${i}` : `Moss ${i}` })
    const ferns = [21, 18, 15, 12, 9, 6, 3, 0].map((i) => `p${i}@example.com`)
    const found = await api.call('GET /api/contacts?q=fern&limit=5')
    expect(found.body).toMatchObject({ has_more: true, searched_until: null })
    const rest = await api.call(`GET /api/contacts?q=fern&after=${found.body.data.at(-1).id}`)
    expect(rest.body).toMatchObject({ has_more: false, searched_until: null })
    const emails = [...found.body.data, ...rest.body.data].map(({ email }: { email: string }) => email)
    expect(emails).toEqual(ferns)

    for (const side of ['after', 'before'] as const)
      for (const lookedAt of [1, 2, 5, 23, 24]) {
        let seen: string[] = []
        let pages = 0
        let cursor: string | undefined = side === 'after' ? undefined : '00000000-0000-0000-0000-000000000000'
        do {
          const { contacts, searchedUntil } = await searchContacts(
            api.mail.context.db,
            DEFAULT_WORKSPACE,
            { q: 'fern' },
            { limit: 3, ...(cursor !== undefined && { [side]: cursor }) },
            { patienceMs: -1, lookedAt },
          )
          const addresses = contacts.map(({ address }) => address)
          seen = side === 'after' ? [...seen, ...addresses] : [...addresses, ...seen]
          const furthest = side === 'after' ? contacts.at(-1)?.id : contacts[0]?.id
          cursor = searchedUntil ?? (contacts.length === 3 ? furthest : undefined)
          expect(++pages).toBeLessThan(60)
        } while (cursor !== undefined)
        expect(seen).toEqual(ferns)
      }
  })

  it('refuse what cannot be kept, and say where it is', async () => {
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`a${i}`, i]))
    for (const [json, pointer] of [
      [{ email: 'nobody' }, '/email'],
      [{ email: 'a@x.org', name: 'a\nb' }, '/name'],
      [{ email: 'a@x.org', attributes: many }, '/attributes'],
      [{ email: 'a@x.org', attributes: { a: 'x'.repeat(17_000) } }, '/attributes'],
      [{ email: 'a@x.org', attributes: { a: ['\0'] } }, '/attributes'],
      [{ email: 'a@x.org', attribute: {} }, '/attribute'],
    ] as const)
      expect((await save(json)).body).toMatchObject({ status: 422, errors: [{ pointer }] })
    const { add, members } = await makeAudience(api)
    const refused = await add({ email: 'a@x.org' }, { email: 'b' })
    expect(refused.body).toMatchObject({ code: 'contact_invalid', errors: [{ pointer: '/contacts/1/email' }] })
    expect(await members()).toEqual([])
    // However many calls bring them, they stay bounded; what does not fit is said.
    const { a64: _, ...most } = many
    await save({ email: 'a@x.org', attributes: most })
    const crowded = await save({ email: 'a@x.org', name: 'A', attributes: { more: 1 } })
    expect(crowded.body).toMatchObject({ name: 'A', warnings: [expect.stringContaining('do not fit')] })
    expect(crowded.body.attributes).toEqual(most)
  })

  it('show a contact with its lists and what keeps it from being mailed', async () => {
    const { list, add, idOf, subscribe } = await makeAudience(api)
    expect(
      (
        await add(
          { email: 'ada@x.org' },
          { email: 'b@x.org', timezone: 'Nowhere' },
          { email: 'ADA@x.org', name: 'Ada' },
        )
      ).body,
    ).toEqual({
      created: 2,
      updated: 0,
      joined: 2,
      opted_out: 0,
      warnings: [{ index: 1, email: 'b@x.org', detail: expect.stringContaining('Nowhere') }],
    })
    await subscribe('ada@x.org', false)
    await api.call('POST /api/suppressions', { json: { email: 'ada@x.org', reason: 'complaint' } })
    expect((await api.call(`GET /api/contacts/${await idOf('ada@x.org')}`)).body).toMatchObject({
      name: 'Ada',
      lists: [{ id: list, name: 'Newsletter', subscribed: false }],
      suppressions: [{ scope: 'all', reason: 'complaint' }],
    })
    const only = async (subscribed: boolean) =>
      (await api.call(`GET /api/lists/${list}/contacts?subscribed=${subscribed}`)).body.data.length
    expect([await only(true), await only(false)]).toEqual([1, 1])
  })

  it('have lists with names of their own, which stay while a campaign goes to them', async () => {
    const { list } = await makeAudience(api)
    expect((await api.call('POST /api/lists', { json: { name: ' Newsletter ' } })).body.code).toBe('list_conflict')
    await makeAudience(api, 'Other')
    const rename = (name: string) => api.call(`PATCH /api/lists/${list}`, { json: { name } })
    expect((await rename('Other')).body).toMatchObject({ status: 409, code: 'list_conflict' })
    expect((await rename('')).body).toMatchObject({ status: 422, code: 'list_invalid' })
    expect((await rename('News')).body).toMatchObject({ name: 'News', members: 0, subscribed: 0 })
    const { db } = api.mail.context
    await db.query(
      `insert into postrider.campaigns (id, workspace_id, name, list_id, template_id, sender_id, batch_size)
       select gen_random_uuid(), workspace_id, 'Spring', id, gen_random_uuid(), gen_random_uuid(), 500
       from postrider.lists where name = 'News'`,
    )
    const kept = await api.call(`DELETE /api/lists/${list}`)
    expect(kept.body).toMatchObject({ status: 409, code: 'list_conflict', detail: expect.stringContaining('"Spring"') })
    await db.query('delete from postrider.campaigns')
    expect((await api.call(`DELETE /api/lists/${list}`)).body).toMatchObject({ deleted: true })
    expect((await api.call(`GET /api/lists/${list}`)).status).toBe(404)
  })

  it('export a list that a spreadsheet can open and an import reads back', async () => {
    const { list, add, importCsv, subscribe, idOf } = await makeAudience(api)
    await add(
      { email: '+1@x.org', name: '=HYPERLINK("x")', attributes: { plan: '-1', age: 36, tags: ['a'], email: 'other' } },
      { email: 'b@x.org', name: 'B, "C"' },
    )
    await subscribe('b@x.org', false)
    const { body, headers } = await api.call(`GET /api/lists/${list}/export`)
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${list}.csv"`)
    expect(body.split('\r\n')).toEqual([
      'email,name,timezone,subscribed,age,attribute_email,plan,tags',
      `'+1@x.org,"'=HYPERLINK(""x"")",,true,36,other,'-1,"[""a""]"`,
      'b@x.org,"B, ""C""",,false,,,,',
      '',
    ])
    expect((await importCsv(body)).body).toMatchObject({ created: 0, updated: 2, joined: 0, refused: 0, opted_out: 1 })
    expect((await api.call(`GET /api/contacts/${await idOf('+1@x.org')}`)).body).toMatchObject({
      name: '=HYPERLINK("x")',
      attributes: { plan: '-1', age: '36' },
    })
  })
})
