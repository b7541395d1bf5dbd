import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { PostriderError } from '../errors.js'
import type { Log } from '../log.js'
import { connect, type Database } from './client.js'
import { DirectoryInUseError, type DirectoryOwner, findOwner } from './embedded/directory-lock.js'
import { type EmbeddedDatabase, openEmbedded } from './embedded/open-embedded.js'

/**
 * Opens the database a process is configured for: a server by its URL, or the embedded one. A command that finds the
 * embedded one owned by a running server may attach to it through its socket.
 */
export interface OpenDatabase {
  readonly db: Database
  /** What it is and how much a confirmed commit is worth, in a sentence for people. */
  readonly description: string
  readonly durable: boolean
  /** False when this process is the only one that can reach the database. */
  readonly shared: boolean
  close(): Promise<void>
}

export interface OpenOptions {
  readonly databaseUrl: string | null
  readonly dataDirectory: string
  /** Attach to the owner of the directory instead of failing. */
  readonly attach: boolean
  readonly log: Log
  /** The embedded database has died under this process. Nothing but a new process brings it back. */
  readonly onCrash?: (reason: string) => void
  readonly maxConnections?: number
  readonly now?: string
}

const SERVER_CONNECTIONS = 10
/** One session serves them all; more connections would only queue. */
const EMBEDDED_CONNECTIONS = 4
const OWNER_START_MS = 30_000
const OWNER_LOOK_MS = 100

export async function openDatabase(options: OpenOptions): Promise<OpenDatabase> {
  const { databaseUrl, dataDirectory, attach } = options
  if (databaseUrl) return openServer(databaseUrl, options)
  if (!attach) return openOwned(options)
  const owner = await findReachableOwner(dataDirectory)
  return owner?.socket ? openAttached(owner.pid, owner.socket, options) : openOwned(options)
}

/** An owner that is still starting has no socket yet: worth waiting for. */
async function findReachableOwner(directory: string): Promise<DirectoryOwner | null> {
  const deadline = performance.now() + OWNER_START_MS
  for (;;) {
    const owner = await findOwner(directory)
    if (!owner || owner.socket || performance.now() > deadline) return owner
    await setTimeout(OWNER_LOOK_MS)
  }
}

async function openServer(databaseUrl: string, options: OpenOptions): Promise<OpenDatabase> {
  const db = connectTo({ connectionString: databaseUrl }, SERVER_CONNECTIONS, options)
  try {
    const { rows } = await db.query<{ version: string; fsync: string; commit: string }>(
      `select current_setting('server_version') as version, current_setting('fsync') as fsync,
         current_setting('synchronous_commit') as commit`,
    )
    const { version, fsync, commit } = rows[0]!
    const durable = fsync === 'on' && commit !== 'off'
    return {
      db,
      durable,
      shared: true,
      description: `PostgreSQL ${version} at ${new URL(databaseUrl).host || 'the local socket'}, ${
        durable
          ? 'safe against power loss (fsync on)'
          : `NOT safe against power loss (fsync ${fsync}, synchronous_commit ${commit})`
      }`,
      close: () => db.close(),
    }
  } catch (error) {
    await db.close()
    throw unavailable(
      `PostgreSQL at ${new URL(databaseUrl).host} cannot be used`,
      error,
      'Check DATABASE_URL and that the server runs.',
    )
  }
}

async function openOwned(options: OpenOptions): Promise<OpenDatabase> {
  const { dataDirectory, log } = options
  const embedded = await openEmbedded({
    directory: dataDirectory,
    // What it does by itself is of interest to whoever looks for it; a loss of durability is to everybody.
    log: (message, detail) =>
      message.startsWith('WARNING') ? log.warn(detail ?? {}, message) : log.debug(detail ?? {}, message),
    onCrash(reason) {
      log.error({ reason }, 'the embedded database has died; restart this process')
      options.onCrash?.(reason)
    },
  }).catch((error: unknown) => {
    if (error instanceof DirectoryInUseError)
      throw new PostriderError('directory_in_use', error.message, { cause: error })
    throw unavailable(
      `The embedded database in ${dataDirectory} cannot be opened`,
      error,
      'Set DATABASE_URL to use a server instead.',
    )
  })
  const db = connectTo(socketOf(embedded.socket), EMBEDDED_CONNECTIONS, options, embedded)
  const { rows } = await db.query<{ version: string }>(`select current_setting('server_version') as version`)
  return {
    db,
    durable: embedded.durability.fsync,
    shared: false,
    description: `embedded PostgreSQL ${rows[0]!.version} in ${dataDirectory}, ${
      embedded.durability.fsync
        ? 'safe against power loss (one fsync per commit, proven just now)'
        : `NOT safe against power loss (${embedded.durability.reason})`
    }`,
    async close() {
      await db.close()
      await embedded.close()
    },
  }
}

async function openAttached(
  pid: number | null,
  socket: { host: string; port: number },
  options: OpenOptions,
): Promise<OpenDatabase> {
  const db = connectTo(socketOf(socket), EMBEDDED_CONNECTIONS, options, { onNotify: () => () => undefined })
  return {
    db,
    durable: true,
    shared: true,
    description: `embedded PostgreSQL in ${options.dataDirectory}, through process ${pid ?? 'unknown'} which owns it`,
    close: () => db.close(),
  }
}

const socketOf = ({ host, port }: { host: string; port: number }): pg.PoolConfig => ({
  host,
  port,
  user: 'postgres',
  database: 'postgres',
})

const connectTo = (
  connection: pg.PoolConfig,
  maxConnections: number,
  options: OpenOptions,
  embedded?: Pick<EmbeddedDatabase, 'onNotify'>,
): Database =>
  connect({
    connection,
    maxConnections: options.maxConnections ?? maxConnections,
    onError: (error) => options.log.debug({ err: error }, 'an idle connection was lost'),
    ...(options.now !== undefined && { now: options.now }),
    ...(embedded && { embedded: true, onNotify: (listener) => embedded.onNotify(listener) }),
  })

const unavailable = (what: string, error: unknown, todo: string) => {
  const { message, code } = error as NodeJS.ErrnoException
  return new PostriderError('database_unavailable', `${what}: ${message || code || 'no answer'}. ${todo}`, {
    cause: error,
  })
}
