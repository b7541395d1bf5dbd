import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { findImport, insertImport } from '../../src/db/imports.js'
import { DEFAULT_WORKSPACE, newId, readId } from '../../src/id.js'
import { importContacts } from '../../src/operations/import-contacts.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from '../http/api-fixture.js'
import { makeAudience } from './audience-fixture.js'

describe.each(DATABASE_KINDS)('an import, on %s', (kind) => {
  const api = openApi(kind)
  const contact = async (email: string) => (await api.call(`GET /api/contacts?email=${email}`)).body.data[0]

  it('merges rows by address, the later over the earlier, within a batch and across batches', async () => {
    const { importCsv, counts } = await makeAudience(api)
    await api.call('POST /api/contacts', {
      json: { email: 'known@x.org', name: 'Known', attributes: { plan: 'old', kept: { a: 1 } }, timezone: 'UTC' },
    })
    const people = Array.from({ length: 1_500 }, (_, i) => `p${i}@x.org,P${i},,basic`)
    const file = [
      'E-Mail;Name;TZ;Plan'.replaceAll(';', ','),
      'known@x.org,,Europe/Paris,new',
      ...people.slice(0, 750),
      'P0@x.org,Second,,',
      ...people.slice(750),
      'p0@X.org,,,third',
      'p1@x.org,Again,Asia/Tokyo,',
      'nobody,,,',
    ].join('\n')
    const { body } = await importCsv(file)
    expect(body).toMatchObject({
      status: 'done',
      rows_read: 1_505,
      created: 1_500,
      updated: 1,
      joined: 1_501,
      repeated: 3,
      refused: 1,
      opted_out: 0,
      failure: null,
      problems: [{ line: 1_506, detail: expect.stringContaining('email') }],
    })
    expect(await counts()).toEqual([1_501, 1_501])
    expect(await contact('known@x.org')).toMatchObject({
      name: 'Known',
      timezone: 'Europe/Paris',
      attributes: { plan: 'new', kept: { a: 1 } },
    })
    expect(await contact('p0@x.org')).toMatchObject({ name: 'Second', attributes: { plan: 'third' } })
    expect(await contact('p1@x.org')).toMatchObject({
      name: 'Again',
      timezone: 'Asia/Tokyo',
      attributes: { plan: 'basic' },
    })
    const again = await importCsv(file)
    expect(again.body).toMatchObject({ created: 0, updated: 1_501, joined: 0, repeated: 3, refused: 1 })
    expect((await api.call(`GET /api/imports/${again.body.id}`)).body).toEqual(again.body)
    const listed = (await api.call('GET /api/imports')).body.data.map(({ id }: { id: string }) => id)
    expect(listed).toEqual([again.body.id, body.id])
  })

  it('maps columns as it is told, and refuses what it cannot make out before anything is written', async () => {
    const { importCsv, members } = await makeAudience(api)
    const map = encodeURIComponent('Kontakt=email,Firma=company,Notes=-')
    await importCsv('Kontakt;Firma;Notes\nada@x.org;Analytical;secret\n', `?map=${map}`)
    expect((await contact('ada@x.org')).attributes).toEqual({ company: 'Analytical' })
    for (const [file, query] of [
      ['name\nAda\n', ''],
      ['', ''],
      ['email\nb@x.org\n', '?map=Kontakt%3Demail'],
    ] as const)
      expect((await importCsv(file, query)).body).toMatchObject({ status: 422, code: 'import_invalid' })
    expect((await importCsv('email\nb@x.org\n', '?map=nonsense')).body).toMatchObject({ code: 'request_invalid' })
    expect((await importCsv('email\nb@x.org\n', '?mapp=a')).body).toMatchObject({ code: 'request_invalid' })
    for (const type of ['application/json', 'text/csv; charset=latin1', ''])
      expect(
        (
          await api.call(`POST /api/lists/${(await makeAudience(api, 'x')).list}/import`, {
            body: 'email\nb@x.org\n',
            headers: { 'content-type': type },
          })
        ).status,
      ).toBe(415)
    expect(await members()).toEqual(['ada@x.org'])
    expect((await api.call('GET /api/imports')).body.data).toHaveLength(1)
  })

  it('that ends half way keeps what it read, says why, and goes on where it is sent again', async () => {
    const { list, importCsv, members } = await makeAudience(api)
    const broken = await importCsv('email,name\na@x.org,A\nb@x.org,"B\n')
    expect(broken.body).toMatchObject({ status: 'failed', rows_read: 1, created: 1 })
    expect(broken.body.failure).toMatch(/line 3 has a quote that is never closed/)
    const gone = async function* () {
      // The last address is one, but not the one that was about to come.
      yield Buffer.from('email\na@x.org\nc@x.org\nd@x.or')
      throw new Error('aborted')
    }
    const ended = await importContacts(api.mail.context, DEFAULT_WORKSPACE, readId('lst', list)!, gone())
    expect(ended).toMatchObject({ status: 'failed', rowsRead: 2, created: 1, updated: 1 })
    expect(ended.failure).toMatch(/stopped coming before its end \(aborted\)/)
    expect(await members()).toEqual(['a@x.org', 'c@x.org'])
    expect((await importCsv('email\na@x.org\nb@x.org\nc@x.org\n')).body).toMatchObject({
      created: 1,
      updated: 2,
      joined: 1,
    })
  })

  it('shows how far it has come while it runs', async () => {
    const { list } = await makeAudience(api)
    const seen: unknown[] = []
    const rows = async function* () {
      yield Buffer.from(`email\n${Array.from({ length: 1_000 }, (_, i) => `p${i}@x.org\n`).join('')}`)
      yield Buffer.from('last@x.org\n')
      // Everything before was handed over by now.
      const { body } = await api.call('GET /api/imports')
      seen.push(...body.data.map(({ status, rows_read }: Record<string, unknown>) => [status, rows_read]))
    }
    await importContacts(api.mail.context, DEFAULT_WORKSPACE, readId('lst', list)!, rows())
    expect(seen).toEqual([['running', 1_000]])
  })

  it('whose process died is called failed, and one that waits is not', async () => {
    const { list } = await makeAudience(api)
    const { db } = api.mail.context
    const { id } = await insertImport(db, DEFAULT_WORKSPACE, newId(), readId('lst', list)!)
    await api.shiftClock(2 * 60_000)
    expect((await findImport(db, DEFAULT_WORKSPACE, id))!.status).toBe('running')
    await api.shiftClock(2 * 60_000)
    const dead = await findImport(db, DEFAULT_WORKSPACE, id)
    expect(dead).toMatchObject({ status: 'failed', failure: expect.stringContaining('process that ran it ended') })
    expect((await api.call('GET /api/imports')).body.data[0]).toMatchObject({ status: 'failed' })
  })

  it('counts every problem and keeps the first thousand', async () => {
    const { importCsv } = await makeAudience(api)
    const file = `email,tz\n${'nobody,\n'.repeat(1_200)}a@x.org,Nowhere\n`
    const { body } = await importCsv(file)
    expect(body).toMatchObject({ rows_read: 1_201, refused: 1_200, created: 1 })
    expect(body.problems).toHaveLength(1_000)
    expect(body.problems.at(-1)).toMatchObject({ line: 1_001 })
    expect((await contact('a@x.org')).timezone).toBeNull()
  })

  it('does not let two of the same file wait for each other for ever', async () => {
    const { list, counts } = await makeAudience(api)
    const names = Array.from({ length: 1_200 }, (_, i) => `p${i}@x.org`)
    const file = (rows: readonly string[]) => Readable.from([Buffer.from(['email', ...rows].join('\n'))])
    const run = (rows: readonly string[]) =>
      importContacts(api.mail.context, DEFAULT_WORKSPACE, readId('lst', list)!, file(rows))
    const ended = await Promise.all([run(names), run(names.toReversed()), run(names)])
    expect(ended.map(({ status, rowsRead }) => [status, rowsRead])).toEqual(
      names.slice(0, 3).map(() => ['done', 1_200]),
    )
    expect(ended.reduce((sum, { created }) => sum + created, 0)).toBe(1_200)
    expect(ended.reduce((sum, { joined }) => sum + joined, 0)).toBe(1_200)
    expect(await counts()).toEqual([1_200, 1_200])
  })
})
