import type { Command } from 'commander'
import type { Postrider } from '../../postrider.js'
import { type ApiKey, listApiKeys } from '../../db/api-keys.js'
import { findSender } from '../../db/senders.js'
import { SCOPES, type Scope } from '../../domain/scopes.js'
import { PostriderError } from '../../errors.js'
import { DEFAULT_SENDER, DEFAULT_WORKSPACE, readId, showId } from '../../id.js'
import { createApiKey, ensureWorkspace, revokeApiKey } from '../../operations/api-keys.js'
import { readChoice } from '../choices.js'
import { withPostrider } from '../open-postrider.js'
import { note, print, printJson } from '../print.js'
import { addSettings, configFrom, DATABASE_SETTINGS } from '../settings.js'
import { formatTable, terminalWidth } from '../table.js'
import { addWorkspace, getWorkspace } from '../workspace.js'

interface Flags extends Record<string, unknown> {
  readonly workspace: string
  readonly json?: true
}

export function addKeys(program: Command): void {
  const keys = program.command('keys').description('API keys: create, list, revoke')
  const add = (usage: string, description: string) =>
    addSettings(addWorkspace(keys.command(usage).description(description)), DATABASE_SETTINGS).option(
      '--json',
      'print JSON',
    )
  add('create', 'make a key and print it, this once')
    .option('--name <name>', 'what it is for', 'made by hand')
    .option('--scope <scopes>', `what it may do: some of ${SCOPES.join(',')}`, SCOPES.join(','))
    .action(create)
  add('list', 'all keys of a workspace, newest first').action(list)
  add('revoke <id>', 'make a key invalid, at once and for ever').action(revoke)
}

async function create(flags: Flags & { name: string; scope: string }): Promise<void> {
  const config = configFrom(flags)
  const scopes = readScopes(flags.scope)
  const make = async ({ context: { db } }: Postrider) => {
    // As the server sends, which may have settings this shell has not.
    const known = await findSender(db, DEFAULT_WORKSPACE, DEFAULT_SENDER)
    const sender = known ?? { ...config.mailFrom, provider: config.smtpUrl === null ? 'capture' : 'smtp' }
    const { id, name } = await ensureWorkspace(db, flags.workspace, sender)
    const { key, apiKey } = await createApiKey(db, id, { name: flags.name, scopes })
    if (flags.json) return printJson({ ...toJson(apiKey, name), key })
    note(`${showId('key', apiKey.id)} may ${scopes.join(', ')} in workspace ${name}. The key is shown this once:`)
    print(key)
  }
  await withPostrider(config, make, { create: true })
}

function readScopes(text: string): Scope[] {
  const words = text.split(',').map((word) => word.trim())
  return [...new Set(words.map((word) => readChoice('--scope', word, SCOPES)))]
}

async function list(flags: Flags): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context: { db } }) => {
    const { id, name } = await getWorkspace(db, flags.workspace)
    const keys = await listApiKeys(db, id)
    if (flags.json) return printJson({ object: 'list', has_more: false, data: keys.map((key) => toJson(key, name)) })
    if (keys.length === 0) return note(`No keys in workspace ${name}. "postrider keys create" makes one.`)
    print(formatTable(keys, COLUMNS, terminalWidth()))
  })
}

async function revoke(text: string, flags: Flags): Promise<void> {
  await withPostrider(configFrom(flags), async ({ context: { db } }) => {
    const { id, name } = await getWorkspace(db, flags.workspace)
    const revoked = await revokeApiKey(db, id, readId('key', text) ?? text).catch((error: unknown) => {
      throw error instanceof PostriderError && error.code === 'key_not_found'
        ? new PostriderError('key_not_found', `There is no key ${JSON.stringify(text)} in workspace ${name}.`)
        : error
    })
    if (flags.json) printJson(toJson(revoked, name))
    else print(`Revoked ${showId('key', revoked.id)} (${revoked.name}, ${revoked.prefix}…).`)
  })
}

const toJson = (key: ApiKey, workspace: string) => ({
  object: 'api_key',
  id: showId('key', key.id),
  name: key.name,
  prefix: key.prefix,
  scopes: key.scopes,
  workspace,
  created_at: key.createdAt.toISOString(),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
})

const day = (instant: Date | null) => instant?.toISOString().slice(0, 10) ?? 'never'

const COLUMNS = [
  { title: 'ID', cell: ({ id }: ApiKey) => showId('key', id) },
  { title: 'KEY', cell: ({ prefix }: ApiKey) => prefix },
  { title: 'USED', cell: ({ revokedAt, lastUsedAt }: ApiKey) => (revokedAt ? 'revoked' : day(lastUsedAt)) },
  { title: 'NAME', cell: ({ name }: ApiKey) => name, mayBeCut: true as const },
  {
    title: 'SCOPES',
    cell: ({ scopes }: ApiKey) => (scopes.length === SCOPES.length ? 'all' : scopes.join(',')),
    mayBeCut: true as const,
  },
]
