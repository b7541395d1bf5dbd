import { parse, type CsvError } from 'csv-parse'
import { PostriderError } from '../errors.js'

/** One row of a CSV file; `line` is the line of the file it begins on. */
export interface CsvRow {
  readonly line: number
  readonly cells: readonly string[]
}

/** The file cannot be read any further. The rows before the line were fine. */
export class CsvEnd extends Error {
  override readonly name = 'CsvEnd'
}

const DELIMITERS = [',', ';', '\t'] as const
const LONGEST_HEADER = 65_536
/** More than any row that is meant. What is longer is one whose quote was never closed, and would take the rest of the file with it. */
const LONGEST_ROW = 1_048_576
const SLICE = 65_536

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const QUOTE = 34

/**
 * The rows of a file, the header among them, as they come: what is held in memory is a piece of the file, never all of
 * it. Rows without anything in them are left out. Throws `CsvEnd` where the file cannot be understood any further.
 */
export async function* readRows(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRow> {
  const chunks = bytes[Symbol.asyncIterator]()
  try {
    const start = await readHeaderLine(chunks)
    if (start.length === 0) return
    yield* parseRows(start, { [Symbol.asyncIterator]: () => chunks })
  } finally {
    await chunks.return?.()
  }
}

async function* parseRows(start: Buffer, rest: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRow> {
  const rows: CsvRow[] = []
  let [line, emptyLines] = [1, 0]
  const parser = parse({
    bom: true,
    delimiter: findDelimiter(start),
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    // A quote in the middle of a cell is a character: taken for a beginning, it would swallow the lines that follow.
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: LONGEST_ROW,
    // Counted here, because the parser takes a line break of two characters within quotes for two.
    on_record(cells: string[], info) {
      line += info.empty_lines - emptyLines
      emptyLines = info.empty_lines
      if (cells.some((cell) => cell.trim() !== '')) rows.push({ line, cells })
      line += 1 + countLineBreaks(cells)
      return null
    },
  })
  parser.on('error', () => undefined)
  parser.resume()
  const feed = (slice: Uint8Array | null) =>
    new Promise<CsvError | null>((resolve) => {
      const done = (error?: Error | null) => resolve((error ?? null) as CsvError | null)
      if (slice) return void parser.write(slice, done)
      parser.once('error', done).once('end', done)
      parser.end()
    })
  try {
    for await (const slice of slices(start, rest)) {
      const error = await feed(slice)
      yield* rows.splice(0)
      if (error) throw toEnd(error, line + parser.info.empty_lines - emptyLines)
    }
  } finally {
    parser.destroy()
  }
}

/** In pieces of a bounded size, whatever size they come in; null at the end. */
async function* slices(start: Buffer, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array | null> {
  const cut = function* (chunk: Uint8Array) {
    for (let at = 0; at < chunk.length; at += SLICE) yield chunk.subarray(at, at + SLICE)
  }
  yield* cut(start)
  for await (const chunk of rest) yield* cut(chunk)
  yield null
}

function toEnd({ code, message }: CsvError, line: number): Error {
  if (code === 'CSV_QUOTE_NOT_CLOSED')
    return new CsvEnd(`The row that begins on line ${line} has a quote that is never closed.`)
  if (code === 'CSV_MAX_RECORD_SIZE')
    return new CsvEnd(
      `The row that begins on line ${line} is longer than ${LONGEST_ROW} bytes. Most likely a quote in it is never closed.`,
    )
  return new CsvEnd(`The row that begins on line ${line} cannot be read: ${message}`)
}

/** What comes up to the end of the first line that has anything in it, and whatever came with it. */
async function readHeaderLine(chunks: AsyncIterator<Uint8Array>): Promise<Buffer> {
  const read: Uint8Array[] = []
  const endsLine = watchLine()
  let length = 0
  for (;;) {
    const { done, value } = await chunks.next()
    if (done) break
    read.push(value)
    length += value.length
    if (endsLine(value)) break
    if (length > LONGEST_HEADER)
      throw new PostriderError('import_invalid', `The first line is longer than ${LONGEST_HEADER} bytes: is this CSV?`)
  }
  const start = Buffer.concat(read)
  if (start[0] === 0xff || start[0] === 0xfe)
    throw new PostriderError('import_invalid', 'The file is in UTF-16. Save it as UTF-8 and import it again.')
  return start
}

/** Says, piece by piece, whether the first line that is not empty is over; a line break within quotes ends none. */
function watchLine(): (bytes: Uint8Array) => boolean {
  let [quoted, seen] = [false, false]
  return (bytes) => {
    for (const byte of bytes) {
      const breaks = !quoted && (byte === LINE_FEED || byte === CARRIAGE_RETURN)
      if (breaks && seen) return true
      if (byte === QUOTE) quoted = !quoted
      if (!breaks) seen = true
    }
    return false
  }
}

/** The one that stands most often in the first line, outside quotes. */
function findDelimiter(start: Buffer): string {
  const text = start
    .subarray(0, LONGEST_HEADER)
    .toString()
    .replace(/^\uFEFF/, '')
    .trimStart()
  const header = /^(?:"(?:[^"]|"")*"|[^"\r\n])*/.exec(text)![0].replaceAll(/"(?:[^"]|"")*"/g, '')
  const times = (delimiter: string) => header.split(delimiter).length
  return DELIMITERS.reduce((best, each) => (times(each) > times(best) ? each : best))
}

const countLineBreaks = (cells: readonly string[]) =>
  cells.reduce((sum, cell) => sum + (/[\r\n]/.test(cell) ? cell.split(/\r\n|\r|\n/).length - 1 : 0), 0)
