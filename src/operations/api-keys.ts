import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type ApiKey, findApiKeyByHash, insertApiKey, revokeApiKey as revoke } from '../db/api-keys.js'
import type { Database, Sql } from '../db/client.js'
import { upsertConfiguredSender } from '../db/senders.js'
import { findWorkspaceByName, upsertWorkspace, type Workspace } from '../db/workspaces.js'
import { foldAddress } from '../domain/address.js'
import type { Mailbox } from '../domain/message.js'
import { SCOPES, type Scope } from '../domain/scopes.js'
import { PostriderError } from '../errors.js'
import { newId } from '../id.js'

/** A key is shown once, when it is made. What is kept is its hash and the first letters, to tell keys apart. */
const MARK = 'pr_'
const PREFIX_LENGTH = MARK.length + 8

export interface NewApiKey {
  readonly name: string
  readonly scopes: readonly Scope[]
}

export const hashKey = (key: string): string => createHash('sha256').update(key).digest('hex')

export async function createApiKey(
  sql: Sql,
  workspaceId: string,
  { name, scopes }: NewApiKey,
): Promise<{ key: string; apiKey: ApiKey }> {
  const unknown = scopes.filter((scope) => !SCOPES.includes(scope))
  const problems = [
    ...(name.trim() === '' || name.length > 100 || /\p{Cc}/u.test(name)
      ? [{ path: ['name'], detail: 'must have 1 to 100 characters' }]
      : []),
    ...(scopes.length === 0 || unknown.length > 0
      ? [{ path: ['scopes'], detail: `must be some of ${SCOPES.join(', ')}` }]
      : []),
  ]
  if (problems.length > 0)
    throw new PostriderError('key_invalid', problems.map(({ path, detail }) => `${path[0]} ${detail}`).join('; '), {
      problems,
    })
  const key = `${MARK}${randomBytes(32).toString('base64url')}`
  const prefix = key.slice(0, PREFIX_LENGTH)
  const apiKey = await insertApiKey(sql, workspaceId, { id: newId(), name, prefix, hash: hashKey(key), scopes })
  return { key, apiKey }
}

export async function revokeApiKey(sql: Sql, workspaceId: string, id: string): Promise<ApiKey> {
  const revoked = await revoke(sql, workspaceId, id)
  if (!revoked) throw new PostriderError('key_not_found', 'There is no such API key.')
  return revoked
}

/** The key somebody presents, if it is one and was not revoked. */
export async function findValidKey(sql: Sql, key: string): Promise<ApiKey | null> {
  const found = key.startsWith(MARK) ? await findApiKeyByHash(sql, hashKey(key)) : null
  return found && !found.revokedAt ? found : null
}

/** Compares secrets of any length without telling by its time how much of one was right. */
export const sameSecret = (a: string, b: string): boolean =>
  timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest())

/** Makes the workspace if there is none of that name, with the sender of the settings as its default. */
export async function ensureWorkspace(
  db: Database,
  name: string,
  sender: Mailbox & { readonly provider: 'smtp' | 'capture' },
): Promise<Workspace> {
  if (!/^[a-z0-9][a-z0-9_-]{0,62}$/.test(name))
    throw new PostriderError(
      'key_invalid',
      `A workspace is named by 1 to 63 lower-case letters, digits, dashes and underscores, not ${JSON.stringify(name)}.`,
    )
  const known = await findWorkspaceByName(db, name)
  if (known) return known
  // Together: a workspace without a sender could not send.
  return db.transaction(async (tx) => {
    const made = await upsertWorkspace(tx, newId(), name)
    await upsertConfiguredSender(tx, made.id, newId(), { ...sender, foldedAddress: foldAddress(sender.address) })
    return made
  })
}
