import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { findTemplate, listTemplates, type Template } from '../../db/templates.js'
import type { Json } from '../../domain/action.js'
import { PostriderError } from '../../errors.js'
import { readId, showId } from '../../id.js'
import { toTemplate } from '../../http/template-json.js'
import { previewTemplate } from '../../operations/preview-template.js'
import { createTemplate } from '../../operations/templates.js'
import { CommandError, USAGE } from '../command-error.js'
import { withPostrider } from '../open-postrider.js'
import { note, print, printJson } from '../print.js'
import { oneLine, severalLines } from '../safe-text.js'
import { addSettings, configFrom, DATABASE_SETTINGS } from '../settings.js'
import { formatTable, terminalWidth } from '../table.js'
import { addWorkspace, getWorkspace } from '../workspace.js'

interface Flags extends Record<string, unknown> {
  readonly workspace: string
  readonly json?: true
}

const MOST = 100

export function addTemplates(program: Command): void {
  const templates = program.command('templates').description('templates: list, show, create, preview')
  const add = (usage: string, description: string) =>
    addSettings(addWorkspace(templates.command(usage).description(description)), DATABASE_SETTINGS).option(
      '--json',
      'print JSON',
    )
  add('list', `the newest ${MOST} templates`).action(list)
  add('show <id>', 'one template at its newest version').action(show)
  add('create <name>', 'make a template from files')
    .requiredOption('--subject <liquid>', 'its subject')
    .option('--html <file>', 'a file with its html')
    .option('--text <file>', 'a file with its text; derived from the html if there is none')
    .action(create)
  add('preview <id>', 'what it would come to; nothing is sent')
    .option('--data <json>', 'what its variables stand for, as a JSON object')
    .option('--contact <id>', 'whose data stand for contact')
    .action(preview)
}

async function list(flags: Flags): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context: { db } }) => {
    const { id, name } = await getWorkspace(db, flags.workspace)
    const found = await listTemplates(db, id, { limit: MOST + 1 })
    const shown = found.slice(0, MOST)
    if (flags.json)
      return printJson({ object: 'list', has_more: found.length > MOST, data: shown.map((each) => toTemplate(each)) })
    if (found.length === 0) return note(`No templates in workspace ${name}. "postrider templates create" makes one.`)
    print(formatTable(shown, COLUMNS, terminalWidth()))
  })
}

async function show(text: string, flags: Flags): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context: { db } }) => {
    const { id } = await getWorkspace(db, flags.workspace)
    const template = await findTemplate(db, id, readId('tpl', text) ?? text)
    if (!template) throw new PostriderError('template_not_found', `There is no template ${JSON.stringify(text)}.`)
    if (flags.json) return printJson(toTemplate(template))
    const { variables } = toTemplate(template)
    note(`${showId('tpl', template.id)} ${template.name}, version ${template.version}`)
    note(variables.length === 0 ? 'It has no variables.' : `It speaks of ${variables.join(', ')}.`)
    printParts(template)
  })
}

async function create(name: string, flags: Flags & { subject: string; html?: string; text?: string }): Promise<void> {
  const input = { name, subject: flags.subject, html: read(flags.html, '--html'), text: read(flags.text, '--text') }
  await withPostrider(
    configFrom(flags),
    async ({ context }) => {
      const { id } = await getWorkspace(context.db, flags.workspace)
      const made = await createTemplate(context, id, input)
      if (flags.json) printJson(toTemplate(made))
      else print(showId('tpl', made.id))
    },
    { create: true },
  )
}

async function preview(text: string, flags: Flags & { data?: string; contact?: string }): Promise<void> {
  const data = flags.data === undefined ? undefined : readObject(flags.data)
  await withPostrider(configFrom(flags), async ({ context }) => {
    const { id } = await getWorkspace(context.db, flags.workspace)
    const contactId = flags.contact === undefined ? undefined : (readId('ctc', flags.contact) ?? flags.contact)
    const shown = await previewTemplate(context, id, readId('tpl', text) ?? text, { data, contactId })
    if (flags.json) return printJson({ object: 'preview', ...shown })
    if (shown.missing.length > 0) note(`There is no value for ${shown.missing.join(', ')}.`)
    printParts(shown)
  })
}

function printParts({ subject, html, text }: Pick<Template, 'subject' | 'html' | 'text'>): void {
  print(`Subject: ${oneLine(subject)}`)
  for (const part of [text, html]) if (part !== null) print(`\n${severalLines(part)}`)
}

function read(file: string | undefined, flag: string): string | null {
  if (file === undefined) return null
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandError(USAGE, `${flag} ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

function readObject(text: string): { readonly [key: string]: Json } {
  try {
    const value = JSON.parse(text) as Json
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as { [key: string]: Json }
  } catch {
    // Said below, as for any other JSON.
  }
  throw new CommandError(USAGE, `--data must be a JSON object, such as '{"contact":{"name":"Ada"}}'.`)
}

const COLUMNS = [
  { title: 'ID', cell: ({ id }: Template) => showId('tpl', id) },
  { title: 'VERSION', cell: ({ version }: Template) => String(version) },
  { title: 'NAME', cell: ({ name }: Template) => name, mayBeCut: true as const },
  { title: 'SUBJECT', cell: ({ subject }: Template) => subject, mayBeCut: true as const },
]
