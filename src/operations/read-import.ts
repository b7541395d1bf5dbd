import { type CsvRow, readRows } from '../csv/read-rows.js'
import { readCell } from '../csv/write-row.js'
import type { ImportProblem } from '../db/imports.js'
import { type NewContact, readContact } from '../domain/contact.js'
import { chooseColumns, type Column, type ColumnMapping } from '../domain/import-columns.js'
import { PostriderError } from '../errors.js'

/** Rows of a file that were read together. */
export interface ImportBatch {
  readonly rowsRead: number
  readonly contacts: readonly (NewContact & { readonly line: number })[]
  readonly refused: readonly ImportProblem[]
  /** Of rows that are imported all the same. */
  readonly warnings: readonly ImportProblem[]
}

/** Large enough that a statement costs little per row, small enough to be over in a moment. */
const BATCH_ROWS = 1_000
const LONGEST_CELL = 16_384

/**
 * The contacts of a CSV file, batch by batch; nothing of it is kept. Throws `import_invalid` before the first batch when
 * the header cannot be used, and `CsvEnd` after the last one when the file cannot be read to its end.
 */
export async function* readImport(
  bytes: AsyncIterable<Uint8Array>,
  mappings: readonly ColumnMapping[],
): AsyncGenerator<ImportBatch> {
  const rows = readRows(bytes)
  try {
    const header = await rows.next()
    if (header.done)
      throw new PostriderError('import_invalid', 'The file is empty: its first line must name the columns.')
    const columns = readHeader(header.value, mappings)
    yield EMPTY
    let batch: ReadRow[] = []
    for (;;) {
      // What was read before the file went wrong is handed on before the error.
      const next = await rows.next().catch((error: unknown) => ({ error }))
      if (!('error' in next) && !next.done) batch.push(readRow(next.value, columns))
      const over = 'error' in next || next.done
      if (batch.length === BATCH_ROWS || (over && batch.length > 0)) {
        yield toBatch(batch)
        batch = []
      }
      if ('error' in next) throw next.error
      if (next.done) return
    }
  } finally {
    await rows.return(undefined)
  }
}

/** Says that the header can be used. */
const EMPTY: ImportBatch = { rowsRead: 0, contacts: [], refused: [], warnings: [] }

function readHeader({ cells }: CsvRow, mappings: readonly ColumnMapping[]): readonly Column[] {
  if (cells.some((cell) => cell.includes('\uFFFD') || cell.includes('\0')))
    throw new PostriderError('import_invalid', 'The first line is not text in UTF-8. Save the file as UTF-8.')
  const { columns, problem } = chooseColumns(cells, mappings)
  if (problem !== undefined) throw new PostriderError('import_invalid', problem)
  return columns
}

interface ReadRow {
  readonly line: number
  readonly contact: NewContact | null
  readonly problem: string | null
  readonly warning: string | null
}

function readRow({ line, cells }: CsvRow, columns: readonly Column[]): ReadRow {
  const refuse = (problem: string) => ({ line, contact: null, problem, warning: null })
  if (cells.length !== columns.length)
    return refuse(
      `has ${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}, but there are ${columns.length} columns`,
    )
  const long = cells.findIndex((cell) => cell.length > LONGEST_CELL)
  if (long !== -1) return refuse(`cell ${long + 1} has more than ${LONGEST_CELL} characters`)
  const garbled = cells.findIndex((cell) => cell.includes('\uFFFD'))
  // What the decoder leaves of such bytes. A file that has the sign itself was garbled before it came here.
  if (garbled !== -1) return refuse(`cell ${garbled + 1} is not text in UTF-8`)
  const said: { email: string; name?: string; timezone?: string } = { email: '' }
  const attributes: Record<string, string> = {}
  for (const [i, column] of columns.entries()) {
    const cell = readCell(cells[i]!.trim())
    // An empty cell says nothing: it takes nothing away from what is known.
    if (cell === '' || column.field === 'none') continue
    if (column.field === 'attribute') attributes[column.name] = cell
    else said[column.field] = cell
  }
  if (said.email === '') return refuse('has no address')
  const { contact, problems, warning } = readContact({ ...said, attributes })
  if (problems.length > 0) return refuse(problems.map(({ path, detail }) => `${path[0]} ${detail}`).join('; '))
  return { line, contact, problem: null, warning }
}

const toBatch = (rows: readonly ReadRow[]): ImportBatch => ({
  rowsRead: rows.length,
  contacts: rows.flatMap(({ line, contact }) => (contact ? [{ line, ...contact }] : [])),
  refused: rows.flatMap(({ line, problem }) => (problem === null ? [] : [{ line, detail: problem }])),
  warnings: rows.flatMap(({ line, warning }) => (warning === null ? [] : [{ line, detail: warning }])),
})
