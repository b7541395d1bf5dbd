import { readFile } from 'node:fs/promises'
import { text as readAll } from 'node:stream/consumers'
import type { Command } from 'commander'
import type { Sql } from '../../db/client.js'
import { listSequences, listSequenceVersions, type Sequence } from '../../db/sequences.js'
import { formatDurationMs } from '../../domain/duration.js'
import { type SequenceNode, stepNumbers, targetsOf } from '../../domain/sequence.js'
import { toSequence, toSequenceFields, toSequenceSummary, validateSequence } from '../../http/sequence-json.js'
import { showId } from '../../id.js'
import type { Context } from '../../operations/context.js'
import { changeSequence, createSequence, removeSequence, type SequenceFields } from '../../operations/sequences.js'
import { CommandError, USAGE } from '../command-error.js'
import { getSequence } from '../named.js'
import { withPostrider } from '../open-postrider.js'
import { note, print, printJson } from '../print.js'
import { oneLine } from '../safe-text.js'
import { addSettings, configFrom, DATABASE_SETTINGS } from '../settings.js'
import { formatTable, terminalWidth } from '../table.js'
import { addWorkspace, getWorkspace } from '../workspace.js'

interface Flags extends Record<string, unknown> {
  readonly workspace: string
  readonly json?: true
}

const MOST = 100

export function addSequences(program: Command): void {
  const sequences = program
    .command('sequences')
    .description('emails over time: list, show, create, validate, update, delete')
  const add = (usage: string, description: string) =>
    addSettings(addWorkspace(sequences.command(usage).description(description)), DATABASE_SETTINGS).option(
      '--json',
      'print JSON',
    )
  const file = 'a JSON file with its steps or its nodes; - for standard input'
  add('list', `the newest ${MOST} sequences`).action(list)
  add('show <id-or-name>', 'one sequence at its newest version').action(show)
  add('create [name]', 'make a sequence; without a name, by that in the file')
    .requiredOption('--file <file>', file)
    .action(create)
  add('validate', 'say all that is wrong with a sequence; nothing is saved')
    .requiredOption('--file <file>', file)
    .action(validate)
  add('update <id-or-name>', 'rename it, or give it another graph, which makes a new version')
    .option('--file <file>', file)
    .option('--name <name>', 'its new name')
    .action(update)
  add('delete <id-or-name>', 'with its versions; not while a campaign names it').action(remove)
}

async function list(flags: Flags): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context: { db } }) => {
    const { id, name } = await getWorkspace(db, flags.workspace)
    const found = await listSequences(db, id, { limit: MOST + 1 })
    const shown = found.slice(0, MOST)
    if (flags.json)
      return printJson({ object: 'list', has_more: found.length > MOST, data: shown.map(toSequenceSummary) })
    if (found.length === 0) return note(`No sequences in workspace ${name}. "postrider sequences create" makes one.`)
    print(formatTable(shown, COLUMNS, terminalWidth()))
  })
}

async function show(text: string, flags: Flags): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context: { db } }) => {
    const { id } = await getWorkspace(db, flags.workspace)
    const sequence = await getSequence(db, id, text)
    if (flags.json) return printJson(await toJson(db, sequence))
    const { name, version, graph } = sequence
    note(`${showId('seq', sequence.id)} ${oneLine(name)}, version ${version}. It starts at ${graph.start}.`)
    print(formatTable(graph.nodes, NODE_COLUMNS, terminalWidth()))
  })
}

async function create(name: string | undefined, flags: Flags & { file: string }): Promise<void> {
  const json = { ...(await readJson(flags.file)), ...(name !== undefined && { name }) }
  await withPostrider(
    configFrom(flags),
    async ({ context }) => {
      const { id } = await getWorkspace(context.db, flags.workspace)
      // Said with the rest, where a file that is only validated may leave it out.
      const made = await createSequence(context, id, await readFields(context, id, { name: '', ...json }))
      if (flags.json) printJson(await toJson(context.db, made))
      else print(showId('seq', made.id))
    },
    { create: true },
  )
}

async function validate(flags: Flags & { file: string }): Promise<void> {
  const json = await readJson(flags.file)
  await withPostrider(configFrom(flags), async ({ context }) => {
    const { id } = await getWorkspace(context.db, flags.workspace)
    const result = await validateSequence(context, id, json)
    // It was looked at as asked, and a script wants to know what came of it.
    if (!result.valid) process.exitCode = 1
    if (flags.json) printJson(result)
    else print(result.valid ? 'It is valid.' : listProblems(result.problems))
  })
}

async function update(text: string, flags: Flags & { file?: string; name?: string }): Promise<void> {
  if (flags.file === undefined && flags.name === undefined)
    throw new CommandError(USAGE, 'Nothing to change: give --file, --name, or both.')
  const json = {
    ...(flags.file !== undefined && (await readJson(flags.file))),
    ...(flags.name !== undefined && { name: flags.name }),
  }
  await withPostrider(configFrom(flags), async ({ context }) => {
    const { id } = await getWorkspace(context.db, flags.workspace)
    const known = await getSequence(context.db, id, text)
    const isRenamed = flags.file === undefined
    const fields = isRenamed ? { name: flags.name } : await readFields(context, id, json)
    const changed = await changeSequence(context, id, known.id, fields)
    if (flags.json) return printJson(await toJson(context.db, changed))
    print(`${showId('seq', changed.id)} ${oneLine(changed.name)}, version ${changed.version}`)
    if (changed.version === known.version && !isRenamed) note('Its graph is the same as before: no new version.')
  })
}

async function remove(text: string, flags: Flags): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context }) => {
    const { id } = await getWorkspace(context.db, flags.workspace)
    const known = await getSequence(context.db, id, text)
    await removeSequence(context, id, known.id)
    if (flags.json) printJson({ object: 'sequence', id: showId('seq', known.id), deleted: true })
    else print(`Deleted ${showId('seq', known.id)} (${oneLine(known.name)}).`)
  })
}

type JsonObject = Readonly<Record<string, unknown>>

async function readJson(file: string): Promise<JsonObject> {
  const text = await (file === '-' ? readAll(process.stdin) : readFile(file, 'utf8')).catch((error: unknown) => {
    throw new CommandError(USAGE, `--file ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  })
  try {
    const json = JSON.parse(text) as unknown
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as JsonObject
  } catch (error) {
    throw new CommandError(USAGE, `--file ${file} is not JSON: ${oneLine((error as Error).message)}.`)
  }
  throw new CommandError(USAGE, `--file ${file} must hold a JSON object with steps or nodes.`)
}

async function readFields(context: Context, workspaceId: string, json: JsonObject): Promise<SequenceFields> {
  const { valid, problems } = await validateSequence(context, workspaceId, json)
  if (!valid) throw new CommandError(USAGE, `The sequence is not valid:\n${listProblems(problems)}`)
  return toSequenceFields(json).fields
}

/** A line each. What was mistyped is in them as it was written. */
const listProblems = (problems: readonly { readonly pointer: string; readonly detail: string }[]) =>
  problems.map(({ pointer, detail }) => `  ${oneLine(`${pointer || 'the file'} ${detail}`)}`).join('\n')

const toJson = async (sql: Sql, sequence: Sequence) =>
  toSequence(sequence, await listSequenceVersions(sql, sequence.workspaceId, sequence.id, MOST))

const COLUMNS = [
  { title: 'ID', cell: ({ id }: Sequence) => showId('seq', id) },
  { title: 'VERSION', cell: ({ version }: Sequence) => String(version) },
  { title: 'EMAILS', cell: ({ graph }: Sequence) => String(stepNumbers(graph).size) },
  { title: 'NAME', cell: ({ name }: Sequence) => name, mayBeCut: true as const },
]

function describeNode(node: SequenceNode): string {
  switch (node.type) {
    case 'send': {
      const when = node.delayMs === 0 ? '' : `after ${formatDurationMs(node.delayMs)} `
      return `${when}${showId('tpl', node.templateId)}${node.reply ? ', as a reply' : ''}`
    }
    case 'wait':
      return formatDurationMs(node.durationMs)
    case 'wait_for':
      return `${node.event}, for ${formatDurationMs(node.timeoutMs)}`
    case 'branch':
      return JSON.stringify(node.condition)
    case 'stop':
      return ''
  }
}

const LEADS: Readonly<Record<string, string>> = { next: '', onEvent: 'event: ', onTimeout: 'timeout: ' }

const NODE_COLUMNS = [
  { title: 'NODE', cell: ({ id }: SequenceNode) => id },
  { title: 'TYPE', cell: ({ type }: SequenceNode) => type },
  { title: 'WHAT', cell: describeNode, mayBeCut: true as const },
  {
    title: 'THEN',
    cell: (node: SequenceNode) =>
      targetsOf(node)
        .map(([field, target]) => `${LEADS[field] ?? `${field}: `}${target ?? 'the end'}`)
        .join(', '),
    mayBeCut: true as const,
  },
]
