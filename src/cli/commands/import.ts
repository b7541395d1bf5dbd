import { createReadStream, statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import type { Command } from 'commander'
import { CsvEnd } from '../../csv/read-rows.js'
import { type Import, type ImportProblem, KEPT_PROBLEMS } from '../../db/imports.js'
import { findListByName, type List } from '../../db/lists.js'
import { type ColumnMapping, readMapping } from '../../domain/import-columns.js'
import { toImport } from '../../http/contact-json.js'
import { readId } from '../../id.js'
import type { Context } from '../../operations/context.js'
import { importContacts } from '../../operations/import-contacts.js'
import { createList } from '../../operations/lists.js'
import { readImport } from '../../operations/read-import.js'
import { getList } from '../audience.js'
import { CommandError, NOT_FOUND, USAGE } from '../command-error.js'
import { type ImportProgress, showImportProgress } from '../import-progress.js'
import { withPostrider } from '../open-postrider.js'
import { note, print, printJson } from '../print.js'
import { oneLine } from '../safe-text.js'
import { addSettings, configFrom, DATABASE_SETTINGS } from '../settings.js'
import { addWorkspace, getWorkspace } from '../workspace.js'

interface Flags extends Record<string, unknown> {
  readonly workspace: string
  readonly list: string
  readonly createList?: true
  readonly map?: readonly string[]
  readonly dryRun?: true
  readonly json?: true
}

export function addImport(program: Command): void {
  const command = program
    .command('import <csv>')
    .description('contacts from a CSV file, or - for standard input, into a list')
    .requiredOption('--list <id-or-name>', 'the list they join')
    .option('--create-list', 'make the list if there is none of that name')
    .option(
      '--map <column=field>',
      'what a column is: email, name, timezone, an attribute, or - to leave it out; a column is a heading or a number',
      (text: string, others: readonly string[] | undefined) => [...(others ?? []), text],
    )
    .option('--dry-run', 'only read the file and say what is wrong with it')
    .option('--json', 'print JSON')
  addSettings(addWorkspace(command), DATABASE_SETTINGS).action(run)
}

async function run(file: string, flags: Flags): Promise<void> {
  const mappings = (flags.map ?? []).map(readMap)
  const input = openFile(file)
  const progress = showImportProgress(input.size)
  // What was read by then stays, and the import says why it ended.
  const interrupt = () => input.stream.destroy(new Error('interrupted'))
  process.once('SIGINT', interrupt)
  try {
    await withPostrider(configFrom(flags), async ({ context }) => {
      const workspace = await getWorkspace(context.db, flags.workspace)
      const bytes = watch(input.stream, progress)
      if (flags.dryRun) {
        if (!flags.createList) await getList(context.db, workspace.id, flags.list)
        return report(await tryImport(bytes, mappings), flags)
      }
      const list = await findOrMake(context, workspace.id, flags)
      const ended = await importContacts(context, workspace.id, list.id, bytes, {
        mappings,
        onProgress: (sofar) => progress.show(sofar),
      }).finally(() => progress.end())
      report(ended, flags)
    })
  } finally {
    process.off('SIGINT', interrupt)
    input.stream.destroy()
  }
}

function readMap(text: string): ColumnMapping {
  const mapping = readMapping(text)
  if (mapping) return mapping
  throw new CommandError(USAGE, `--map is ${JSON.stringify(text)}; it must be column=field, such as E-Mail=email.`)
}

function openFile(path: string): { stream: Readable; size: number | null } {
  if (path === '-') return { stream: process.stdin, size: null }
  try {
    const stat = statSync(path)
    if (stat.isDirectory()) throw new CommandError(USAGE, `${path} is a directory; name a CSV file.`)
    return { stream: createReadStream(path), size: stat.isFile() ? stat.size : null }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new CommandError(NOT_FOUND, `There is no file ${path}.`)
  }
}

async function* watch(stream: Readable, progress: ImportProgress): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    progress.addBytes(chunk.length)
    yield chunk
  }
}

async function findOrMake(context: Context, workspaceId: string, { list, createList: make }: Flags): Promise<List> {
  const isName = readId('lst', list) === null
  if (make && isName && !(await findListByName(context.db, workspaceId, list)))
    return createList(context, workspaceId, { name: list })
  return getList(context.db, workspaceId, list)
}

type Tried = Pick<Import, 'status' | 'rowsRead' | 'refused' | 'problems' | 'failure'>

/** The same reading, and no writing. */
async function tryImport(bytes: AsyncIterable<Uint8Array>, mappings: readonly ColumnMapping[]): Promise<Tried> {
  const problems: ImportProblem[] = []
  let [rowsRead, refused] = [0, 0]
  let failure: string | null = null
  try {
    for await (const batch of readImport(bytes, mappings)) {
      rowsRead += batch.rowsRead
      refused += batch.refused.length
      const found = [...batch.refused, ...batch.warnings].toSorted((a, b) => a.line - b.line)
      problems.push(...found.slice(0, KEPT_PROBLEMS - problems.length))
    }
  } catch (error) {
    if (!(error instanceof CsvEnd)) throw error
    failure = error.message
  }
  return { status: failure === null ? 'done' : 'failed', rowsRead, refused, problems, failure }
}

function report(ended: Import | Tried, { json, dryRun }: Flags): void {
  const { status, rowsRead, refused, problems, failure } = ended
  if (json)
    printJson(
      'id' in ended
        ? toImport(ended)
        : { object: 'import', dry_run: true, status, rows_read: rowsRead, refused, problems, failure },
    )
  else {
    for (const { line, detail } of problems) note(`line ${line}: ${oneLine(detail)}`)
    const counts = [`${rowsRead} rows`]
    if ('id' in ended)
      counts.push(
        `${ended.created} new`,
        `${ended.updated} known`,
        `${ended.joined} joined`,
        ...(ended.repeated > 0 ? [`${ended.repeated} repeated`] : []),
        ...(ended.optedOut > 0 ? [`${ended.optedOut} opted out or suppressed, and stay so`] : []),
      )
    if (refused > 0) counts.push(`${refused} refused`)
    print(`${dryRun ? 'Nothing was written. ' : ''}${counts.join(', ')}.`)
    if (failure !== null) note(`It ended early: ${oneLine(failure)}`)
  }
  if (status === 'failed') process.exitCode = 1
}
