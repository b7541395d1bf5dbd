import { CsvEnd } from '../csv/read-rows.js'
import type { Sql } from '../db/client.js'
import { findImported, upsertContacts } from '../db/contacts.js'
import {
  advanceImport,
  finishImport,
  type Import,
  type ImportProblem,
  insertImport,
  KEPT_PROBLEMS,
  touchImport,
} from '../db/imports.js'
import { countUnwilling } from '../db/list-members.js'
import { findList, joinList } from '../db/lists.js'
import type { ColumnMapping } from '../domain/import-columns.js'
import { PostriderError } from '../errors.js'
import { newId } from '../id.js'
import type { Context } from './context.js'
import { type ImportBatch, readImport } from './read-import.js'

export interface ImportOptions {
  readonly mappings?: readonly ColumnMapping[]
  readonly onProgress?: (sofar: Import) => void
}

/** How often an import says that it is still at it, while its rows come slowly. */
const HEARTBEAT_MS = 30_000

/**
 * Brings the rows of a CSV file into a list, batch by batch, each in one transaction with its counts. What has been read
 * stays, however it ends: importing the file again merges. Opt-outs and suppressions are counted and never changed.
 *
 * Throws when nothing can be read at all (`import_invalid`, `list_not_found`); an import that ends half way, because the
 * file or whoever sends it does, comes back as `failed` with the reason.
 */
export async function importContacts(
  context: Context,
  workspaceId: string,
  listId: string,
  bytes: AsyncIterable<Uint8Array>,
  { mappings = [], onProgress }: ImportOptions = {},
): Promise<Import> {
  const { db } = context
  if (!(await findList(db, workspaceId, listId))) throw noSuchList()
  const batches = readImport(bytes, mappings)
  // The header is looked at before anything is written.
  await batches.next()
  const id = newId()
  let sofar = await insertImport(db, workspaceId, id, listId)
  const heartbeat = setInterval(() => void touchImport(db, workspaceId, id).catch(() => undefined), HEARTBEAT_MS)
  const notes = createNotes()
  const finish = async (failure: string | null) => {
    const ended = await finishImport(db, workspaceId, id, failure)
    if (!ended) throw noSuchList()
    const { rowsRead, created, joined, refused } = ended
    context.log.info({ import: id, list: listId, rowsRead, created, joined, refused, failure }, 'import ended')
    return ended
  }
  try {
    for (;;) {
      const next = await batches.next().catch((error: unknown) => ({ error }))
      if ('error' in next) return await finish(describeEnd(next.error))
      if (next.done) break
      sofar = await db.transaction((tx) => importBatch(tx, sofar, next.value, notes))
      onProgress?.(sofar)
    }
    return await finish(null)
  } catch (error) {
    const removed = (error as { code?: unknown }).code === '23503'
    if (removed) throw noSuchList()
    // Best effort: when the database is away, the import's silence says the same in a few minutes.
    await finishImport(db, workspaceId, id, describeFailure(error)).catch(() => undefined)
    throw error
  } finally {
    clearInterval(heartbeat)
    await batches.return(undefined)
  }
}

async function importBatch(
  tx: Sql,
  { id, workspaceId, listId }: Import,
  { rowsRead, contacts, refused, warnings }: ImportBatch,
  notes: Notes,
): Promise<Import> {
  const addresses = [...new Set(contacts.map(({ foldedAddress }) => foldedAddress))]
  const before = await findImported(tx, workspaceId, id, addresses)
  const saved = await upsertContacts(tx, workspaceId, contacts, id)
  const joined = await joinList(
    tx,
    listId,
    saved.map((contact) => contact.id),
  )
  const created = saved.filter((contact) => contact.created).length
  const fresh = addresses.filter((address) => !before.has(address))
  const crowded = new Set(saved.filter((each) => each.crowded).map(({ foldedAddress }) => foldedAddress))
  const left = contacts
    .filter(({ foldedAddress }) => crowded.has(foldedAddress))
    .map(({ line }) => ({
      line,
      detail: 'attributes do not fit beside those the contact has, which stay as they were',
    }))
  const problems = [...refused, ...warnings, ...left].toSorted((a, b) => a.line - b.line)
  const sofar = await advanceImport(
    tx,
    workspaceId,
    id,
    {
      rowsRead,
      created,
      updated: fresh.length - created,
      joined,
      repeated: contacts.length - fresh.length,
      optedOut: await countUnwilling(tx, workspaceId, listId, fresh),
      refused: refused.length,
    },
    notes.keep(problems),
  )
  if (!sofar) throw noSuchList()
  return sofar
}

interface Notes {
  /** Those for which there is still room. */
  keep(problems: readonly ImportProblem[]): readonly ImportProblem[]
}

function createNotes(): Notes {
  let room = KEPT_PROBLEMS
  return {
    keep(problems) {
      const kept = problems.slice(0, room)
      room -= kept.length
      return kept
    },
  }
}

const describeEnd = (error: unknown) =>
  error instanceof CsvEnd
    ? `${error.message} What comes before it was imported.`
    : `The file stopped coming before its end (${error instanceof Error ? error.message : String(error)}). What had come was imported: send it again, and it merges.`

const describeFailure = (error: unknown) =>
  error instanceof PostriderError
    ? error.message
    : 'Something went wrong on our side. What had been read was imported: run it again, and it merges.'

const noSuchList = () => new PostriderError('list_not_found', 'There is no such list.')
