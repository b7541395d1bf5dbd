import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CsvRow, readRows } from '../../src/csv/read-rows.js'
import { readCell, writeRow } from '../../src/csv/write-row.js'
import { chooseColumns, readMapping } from '../../src/domain/import-columns.js'
import { type ImportBatch, readImport } from '../../src/operations/read-import.js'

/** In pieces of this many bytes, as a network would cut them. */
async function* pieces(content: string | Buffer, size = 7): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(content as string)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(content: string | Buffer, size?: number): Promise<[number, ...string[]][]> {
  const rows: CsvRow[] = []
  for await (const row of readRows(pieces(content, size))) rows.push(row)
  return rows.map(({ line, cells }) => [line, ...cells])
}

/** All batches as one, and how it ended. */
async function importOf(content: string | Buffer, mappings: readonly string[] = []) {
  const batches: ImportBatch[] = []
  let ended: string | null = null
  try {
    for await (const batch of readImport(
      pieces(content, content.length > 10_000 ? 999 : 5),
      mappings.map((each) => readMapping(each)!),
    ))
      batches.push(batch)
  } catch (error) {
    ended = (error as Error).message
  }
  return {
    ended,
    begun: batches.length > 0,
    rowsRead: batches.reduce((sum, { rowsRead }) => sum + rowsRead, 0),
    contacts: batches.flatMap(({ contacts }) => contacts),
    refused: batches.flatMap(({ refused }) => refused),
    warnings: batches.flatMap(({ warnings }) => warnings),
  }
}

describe('a CSV file', () => {
  it('is read with its byte order mark, any line break, quotes and line breaks within them', async () => {
    const rows = [
      [1, 'email', 'na"me'],
      [2, 'a@x.org', 'two\r\nlines'],
      [4, 'b@x.org', 'Grüße, "you"'],
      [5, 'c@x.org', ''],
    ]
    for (const end of ['\n', '\r\n', '\r']) {
      const text = ['email,"na""me"', 'a@x.org,"two\r\nlines"', 'b@x.org,"Grüße, ""you"""', 'c@x.org,""'].join(end)
      for (const size of [1, 2, 3, 1_000])
        for (const file of [text, `${text}${end}`, `\uFEFF${text}`]) expect(await read(file, size)).toEqual(rows)
    }
  })

  it('has the line numbers an editor shows, whatever lies between the rows', async () => {
    const file = '\n\nemail,note\r\n\r\na@x.org,"1\n2\r\n3"\r\n,\r\n  \r\nb@x.org,x\n\nc@x.org,"\n"\nd@x.org,y'
    expect((await read(file)).map(([line, email]) => [line, email])).toEqual([
      [3, 'email'],
      [5, 'a@x.org'],
      [10, 'b@x.org'],
      [12, 'c@x.org'],
      [14, 'd@x.org'],
    ])
  })

  it('may be separated by commas, semicolons or tabs, which its first line tells', async () => {
    for (const sign of [',', ';', '\t'])
      expect(await read(`"a,;\tb"${sign}email${sign}c\n1${sign}2${sign}3\n`)).toEqual([
        [1, 'a,;\tb', 'email', 'c'],
        [2, '1', '2', '3'],
      ])
  })

  it('keeps a stray quote as a character instead of swallowing the lines behind it', async () => {
    expect(await read('email,name\na@x.org,5" disk\nb@x.org,"Ada" L\nc@x.org,x\n')).toEqual([
      [1, 'email', 'name'],
      [2, 'a@x.org', '5" disk'],
      [3, 'b@x.org', '"Ada" L'],
      [4, 'c@x.org', 'x'],
    ])
  })

  it('with a quote that is never closed ends at the line where that began, and what came before is kept', async () => {
    const { ended, contacts } = await importOf('email,name\na@x.org,A\n\nb@x.org,"B\nc@x.org,C\n')
    expect(ended).toBe('The row that begins on line 4 has a quote that is never closed.')
    expect(contacts.map(({ line, address }) => [line, address])).toEqual([[2, 'a@x.org']])
    const endless = await importOf(`email,name\na@x.org,A\nb@x.org,"B${'x'.repeat(1_100_000)}`)
    expect(endless.ended).toMatch(/^The row that begins on line 3 is longer than \d+ bytes/)
    expect(endless.contacts).toHaveLength(1)
  })

  it('says what is wrong with a row, by its line, and goes on', async () => {
    const file = Buffer.concat([
      Buffer.from('email,name,timezone\na@x.org\nnobody,B,\n,C,\nd@x.org,D,Mars/Olympus\ne@x.org,E,UTC,more\n'),
      Buffer.from('f@x.org,M\u00fcller,\n', 'latin1'),
      Buffer.from(`g@x.org,${'g'.repeat(20_000)},\nh@x.org,${'h'.repeat(300)},\ni@x.org,I,Europe/Paris\n`),
    ])
    const { ended, rowsRead, contacts, refused, warnings } = await importOf(file)
    expect({ ended, rowsRead }).toEqual({ ended: null, rowsRead: 9 })
    expect(refused).toEqual([
      { line: 2, detail: 'has 1 cell, but there are 3 columns' },
      { line: 3, detail: 'email must be one address, such as ada@example.com' },
      { line: 4, detail: 'has no address' },
      { line: 6, detail: 'has 4 cells, but there are 3 columns' },
      { line: 7, detail: 'cell 2 is not text in UTF-8' },
      { line: 8, detail: 'cell 2 has more than 16384 characters' },
      { line: 9, detail: 'name must be at most 200 characters without control characters' },
    ])
    expect(warnings).toEqual([{ line: 5, detail: `"Mars/Olympus" is not a time zone: the sender's is used` }])
    expect(contacts.map(({ address, timezone }) => [address, timezone])).toEqual([
      ['d@x.org', null],
      ['i@x.org', 'Europe/Paris'],
    ])
  })

  it('that cannot be used is refused before anything is read', async () => {
    const reasons = {
      '': /is empty/,
      '\n\n \n': /is empty/,
      'name,phone\nAda,1\n': /No column holds addresses: there are "name", "phone"/,
      'email,Plan,plan\na@x.org,1,2\n': /Columns 2 and 3 would both be attribute plan/,
      '\xFF\xFEe\0m\0': /UTF-16/,
    }
    for (const [file, reason] of Object.entries(reasons)) {
      const { begun, ended } = await importOf(Buffer.from(file, 'latin1'))
      expect({ begun, ended }).toEqual({ begun: false, ended: expect.stringMatching(reason) })
    }
    expect((await importOf('x'.repeat(70_000))).ended).toMatch(/first line is longer/)
  })
})

describe('columns', () => {
  const chosen = (header: string, ...mappings: string[]) => {
    const { columns, problem } = chooseColumns(
      header.split(','),
      mappings.map((each) => readMapping(each)!),
    )
    return (
      problem ?? columns.map((column) => (column.field === 'attribute' ? `.${column.name}` : column.field)).join(' ')
    )
  }

  it('are known by their headings, and every other one is an attribute', () => {
    expect(chosen('E-Mail,Full Name,TZ,First Name,companySize,Straße,!')).toBe(
      'email name timezone .first_name .company_size .straße .column_7',
    )
    expect(chosen('address,email')).toBe('.address email')
    expect(chosen('Address,Name')).toBe('email name')
    expect(chosen('email,subscribed')).toBe('email none')
  })

  it('are what they are mapped to, by heading or by number', () => {
    expect(chosen('Kontakt,Firma,Notes,email', 'kontakt=email', 'Firma=company', 'Notes=-', '4=old')).toBe(
      'email .company none .old',
    )
    expect(chosen('email,x,x', '2=a', '3=b')).toBe('email .a .b')
    expect(chosen('a=b,email', 'a=b=c')).toBe('.c email')
    expect(chosen('Kontakt,Firma', 'Kontact=email')).toBe('There is no column "Kontact". Did you mean "Kontakt"?')
    expect(chosen('email,x,x', 'x=a')).toMatch(/Several columns are called "x"/)
    expect(chosen('a,b', 'a=email', 'b=email')).toMatch(/Columns 1 and 2 would both be email/)
    expect(chosen('a,b', 'a=email', '1=name')).toMatch(/mapped twice/)
  })
})

describe('what is exported', () => {
  it('is never taken for a formula, and reads back as it was', () => {
    for (const cell of ['=1+1', '+1', '-1', '@x', '\tx', '\rx', "'=1", "''@"]) {
      const written = writeRow([cell])
      expect(written.replace(/^"/, '')).toMatch(/^'/)
      expect(readCell(written.slice(0, -2).replaceAll(/^"|"$/g, ''))).toBe(cell)
    }
    expect(writeRow(['a', 'it"s', 'b,c', "'quoted'"])).toBe(`a,"it""s","b,c",'quoted'\r\n`)
  })

  it('has the cells it was given, whatever they are', async () => {
    const cell = fc
      .string({ unit: 'grapheme', maxLength: 12 })
      .filter((text) => !/\uFFFD|\0/.test(text) && text.isWellFormed())
    const row = fc.array(cell, { minLength: 3, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 8 }), fc.integer({ min: 1, max: 9 }), async (rows, size) => {
        const found = await read(['email,b,c\r\n', ...rows.map(writeRow)].join(''), size)
        const kept = rows.filter((cells) => cells.some((each) => each.trim() !== ''))
        expect(found.slice(1).map(([, ...cells]) => cells.map((each) => readCell(each)))).toEqual(kept)
      }),
      { numRuns: 200 },
    )
  })
})

describe('any file of an independent writer', () => {
  /** Written here, on purpose by other rules than our own writer's: quotes around anything, any separator, any line break. */
  const write = (rows: readonly (readonly string[])[], sign: string, end: string, quoteAll: boolean) =>
    rows
      .map((cells) =>
        cells
          .map((cell) =>
            quoteAll || cell.includes(sign) || /["\r\n]/.test(cell) ? `"${cell.split('"').join('""')}"` : cell,
          )
          .join(sign),
      )
      .join(end)

  it('comes in row by row, each on its line', async () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'ü', '💌', '"', ',', ';', '\t', '\n', '\r\n', ' ', "'"),
      maxLength: 8,
    })
    const person = fc.record({
      local: fc.stringMatching(/^[a-z]{1,8}$/),
      name: fc.stringMatching(/^[A-Za-z"; ,]{0,8}$/),
      note: text,
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(person, { maxLength: 12 }),
        fc.constantFrom(',', ';', '\t'),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        async (people, sign, end, quoteAll) => {
          const rows = people.map(({ local, name, note }) => [`${local}@x.org`, name, note])
          const file = write([['email', 'name', 'note'], ...rows], sign, end, quoteAll)
          const { ended, contacts, refused } = await importOf(file)
          expect({ ended, refused }).toEqual({ ended: null, refused: [] })
          let line = 2
          const expected = rows.map(([address, name, note]) => {
            const at = line
            line += 1 + note!.split('\n').length - 1
            return {
              line: at,
              address,
              name: name!.trim() || null,
              note: note!.trim().replace(/^'(?='*[=+@\t\r-])/, '') || undefined,
            }
          })
          expect(
            contacts.map(({ line, address, name, attributes }) => ({ line, address, name, note: attributes['note'] })),
          ).toEqual(expected)
        },
      ),
      { numRuns: 200 },
    )
  })
})
