import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.js'
import { listApiKeys } from '../db/api-keys.js'
import type { Sql } from '../db/client.js'
import { SCOPES } from '../domain/scopes.js'
import { DEFAULT_WORKSPACE } from '../id.js'
import { createApiKey, findValidKey } from '../operations/api-keys.js'

/** The API key that `start` shows, so that a first email can be sent without asking anybody for one. */
export type FirstKey =
  /** From the settings: whoever set it knows it, and a log need not. */
  | { readonly kind: 'configured' }
  | { readonly kind: 'made'; readonly key: string }
  /** The embedded database belongs to one person on one machine, so the key is kept beside it and shown again. */
  | { readonly kind: 'kept'; readonly key: string; readonly file: string }
  /** Made at an earlier start on this server, and shown then. */
  | { readonly kind: 'shown before' }

const NAME = 'first start'

export async function findFirstKey(
  sql: Sql,
  { apiKey, databaseUrl, dataDirectory }: Pick<Config, 'apiKey' | 'databaseUrl' | 'dataDirectory'>,
): Promise<FirstKey> {
  if (apiKey !== null) return { kind: 'configured' }
  if (databaseUrl === null) return keep(sql, join(dataDirectory, 'api-key'))
  // Also one that was revoked since: that was somebody's decision, which a restart must not undo.
  const known = await listApiKeys(sql, DEFAULT_WORKSPACE)
  if (known.some(({ name }) => name === NAME)) return { kind: 'shown before' }
  return { kind: 'made', key: await make(sql) }
}

async function keep(sql: Sql, file: string): Promise<FirstKey> {
  const known = readKept(file)
  const valid = known === null ? null : await findValidKey(sql, known)
  if (known !== null && valid?.workspaceId === DEFAULT_WORKSPACE) return { kind: 'kept', key: known, file }
  const key = await make(sql)
  // Renamed into place: a file that is there is whole, and nobody but its owner could ever read it.
  writeFileSync(`${file}.new`, `${key}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return { kind: 'kept', key, file }
}

function readKept(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

const make = async (sql: Sql) => (await createApiKey(sql, DEFAULT_WORKSPACE, { name: NAME, scopes: SCOPES })).key
