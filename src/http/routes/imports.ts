import { findImport, listImports } from '../../db/imports.js'
import { type ColumnMapping, readMapping } from '../../domain/import-columns.js'
import { PostriderError } from '../../errors.js'
import { exportList } from '../../operations/export-list.js'
import { importContacts } from '../../operations/import-contacts.js'
import { importSchema, toImport } from '../contact-json.js'
import { type Endpoint, keyed } from '../endpoint.js'
import { asList, listOf, pageQuery, readPage } from '../pagination.js'
import { refusal } from '../problem.js'
import { fields, text } from '../read-input.js'
import { listOfCall } from './lists.js'

/** Ten million rows of the usual size. They are never held in memory. */
const FILE_LIMIT = 1_000_000_000

const common = { tag: 'Imports', scope: 'manage' } as const

export const importEndpoints: readonly Endpoint[] = [
  keyed({
    ...common,
    method: 'post',
    path: '/api/lists/{id}/import',
    summary: 'Import a CSV file into a list',
    description:
      'The first line names the columns; commas, semicolons and tabs are told apart by it. Rows are merged by address. Nobody who opted out or is suppressed is revived. An import that ends early keeps what it had read.',
    query: fields({
      map: text(20_000).optional().openapi({
        description:
          'What columns are, where their headings do not say it: column=field, separated by commas. A column is a heading or a number; a field is email, name, timezone, an attribute, or - to leave it out.',
        example: 'E-Mail=email,Firma=company,Notes=-',
      }),
    }),
    stream: { contentType: 'text/csv', limit: FILE_LIMIT },
    example: 'email,name,plan\nada@example.com,Ada,pro\n',
    answers: 'The import, when it is over. Its status says whether all of the file was read.',
    answer: importSchema,
    problems: ['list_not_found', 'import_invalid'],
    async run(call) {
      const mappings = readMappings(call.query.map)
      const { context } = call.options
      return toImport(await importContacts(context, call.caller.workspaceId, call.id('lst'), call.stream, { mappings }))
    },
  }),
  keyed({
    ...common,
    method: 'get',
    path: '/api/imports',
    scope: 'read',
    summary: 'List imports',
    query: pageQuery({}),
    answers: 'A page of imports, newest first.',
    answer: listOf(importSchema),
    async run({ options, caller, query }) {
      const page = readPage(query, 'imp')
      const more = { ...page, limit: page.limit + 1 }
      return asList((await listImports(options.context.db, caller.workspaceId, more)).map(toImport), page)
    },
  }),
  keyed({
    ...common,
    method: 'get',
    path: '/api/imports/{id}',
    scope: 'read',
    summary: 'One import, and how far it has come',
    answers: 'The import.',
    answer: importSchema,
    problems: ['import_not_found'],
    async run(call) {
      const found = await findImport(call.options.context.db, call.caller.workspaceId, call.id('imp'))
      if (!found) throw new PostriderError('import_not_found', 'There is no such import.')
      return toImport(found)
    },
  }),
  keyed({
    ...common,
    method: 'get',
    path: '/api/lists/{id}/export',
    scope: 'read',
    summary: 'Export a list as CSV',
    description:
      'Everybody on it, with a column for every attribute. A cell that a spreadsheet would take for a formula has an apostrophe in front, which an import takes away again.',
    answers: 'The file.',
    answer: { contentType: 'text/csv' },
    problems: ['list_not_found'],
    async run(call) {
      const list = await listOfCall(call)
      return new Response(toStream(exportList(call.options.context, list.id)), {
        headers: {
          'Content-Type': 'text/csv; charset=utf-8; header=present',
          'Content-Disposition': `attachment; filename="${call.param('id')}.csv"`,
        },
      })
    },
  }),
]

function readMappings(map: string | undefined): ColumnMapping[] {
  if (map === undefined || map.trim() === '') return []
  return map.split(',').map((part) => {
    const mapping = readMapping(part)
    if (mapping) return mapping
    const detail = `must be column=field, separated by commas, such as E-Mail=email: ${JSON.stringify(part.slice(0, 100))} is not`
    throw refusal([{ in: 'query', path: ['map'], detail }])
  })
}

/** As fast as it is read: the next page is asked for when there is room. */
const toStream = (texts: AsyncGenerator<string>): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await texts.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    cancel: () => void texts.return(undefined),
  })
}
