/** Starts PGlite so that a commit it has confirmed survives a power failure, and finds out whether it really does. */
import { PGlite } from '@electric-sql/pglite'

import { readRows } from './backend-output.js'
import { DurableNodeFs } from './durable-node-fs.js'
import { WAKE_CHANNEL } from '../wake-channel.js'

export type Durability = { readonly fsync: true } | { readonly fsync: false; readonly reason: string }

export interface Backend {
  readonly durability: Durability
  /** What a client is told when it has connected: authenticated, the parameters, ready. */
  readonly greeting: Buffer
  /** Runs protocol messages to their end and returns the answer. Nothing else happens on this thread meanwhile. */
  run(messages: Uint8Array): Buffer
  /** One of our own statements, without parameters; throws what PostgreSQL complains about. */
  query(sql: string): (string | null)[][]
  /**
   * Undoes what a connection may have left behind in the session all connections share. What cannot be told apart
   * from the belongings of the others (temporary tables, prepared statements) goes when there are no others.
   */
  reset(options: { alone: boolean }): void
  /** Listens to the channel workers are woken on; the backend reports nothing nobody listens to. */
  listen(): void
  /** Writes everything back and ends. */
  close(): Promise<void>
}

const SETTINGS = {
  fsync: 'on',
  // The only method that ends in our own fsync: fdatasync and the open_* flags are stubs that report success.
  wal_sync_method: 'fsync',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  // Nobody but `maintenance.ts` takes checkpoints, so these only decide how much old WAL is kept for reuse.
  max_wal_size: '256MB',
  min_wal_size: '80MB',
  wal_buffers: '16MB',
  shared_buffers: '128MB',
  jit: 'off',
}

export async function startBackend(directory: string, onCrash: (reason: string) => never): Promise<Backend> {
  const fs = new DurableNodeFs(directory)
  const lastWords: string[] = []
  const db = await PGlite.create({
    fs,
    startParams: [
      ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
      ...Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    onStderr: (line) => {
      lastWords.push(line)
      if (lastWords.length > 20) lastWords.shift()
      return false
    },
  }).catch((error: unknown) => {
    throw new Error([`The embedded database in ${directory} does not start.`, ...lastWords].join('\n'), {
      cause: error,
    })
  })
  const crash = (error: unknown) => onCrash([String(error), ...lastWords].join('\n'))
  stopOnCrash(db, crash)

  const run = (messages: Uint8Array): Buffer => {
    const chunks: Buffer[] = []
    // Everything happens before the first `await` inside, so the chunks are complete when the call returns. The raw
    // stream is the one call that neither parses what it passes on nor keeps it.
    db.execProtocolRawStream(messages, {
      syncToFs: false,
      onRawData: (bytes) => chunks.push(Buffer.from(bytes)),
    }).catch(crash)
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  }
  const query = (sql: string) => readRows(run(simpleQuery(sql)))
  const listen = () => void query(`LISTEN ${WAKE_CHANNEL}`)

  const greeting = run(startupPacket())
  listen()
  return {
    durability: proveDurability(fs, query),
    greeting,
    run,
    query,
    listen,
    reset: ({ alone }) => {
      if (alone) {
        query('DISCARD ALL')
        listen()
      } else {
        query('RESET ALL')
        query('SELECT pg_advisory_unlock_all()')
      }
    },
    close: async () => {
      query('CHECKPOINT')
      await db.close()
    },
  }
}

/**
 * PGlite treats everything thrown out of the backend as an SQL error and carries on: with a backend that has ended,
 * that is an endless loop, and after a failed fsync it would confirm commits that are not on disk. Only its own
 * long jump (status 100) is an SQL error.
 */
function stopOnCrash(db: PGlite, crash: (error: unknown) => never): void {
  const LONG_JUMP = 100
  for (const name of ['_PostgresMainLoopOnce', '_PostgresMainLongJmp'] as const) {
    const original = db.Module[name]
    db.Module[name] = () => {
      try {
        original()
      } catch (error) {
        if ((error as { status?: number }).status !== LONG_JUMP) crash(error)
        throw error
      }
    }
  }
}

/** A commit that writes nothing anybody can see, yet must be flushed like any other. */
function proveDurability(fs: DurableNodeFs, query: Backend['query']): Durability {
  const before = fs.fsyncs
  query("SELECT pg_logical_emit_message(true, 'postrider', 'does a commit reach the disk?')")
  if (fs.fsyncs > before) return { fsync: true }
  return {
    fsync: false,
    reason: 'a commit was confirmed without a single fsync: this PGlite build ignores our file system',
  }
}

function simpleQuery(sql: string): Buffer {
  const text = Buffer.from(`${sql}\0`)
  const header = Buffer.from('Q\0\0\0\0')
  header.writeInt32BE(4 + text.length, 1)
  return Buffer.concat([header, text])
}

function startupPacket(): Buffer {
  const parameters = Buffer.from('user\0postgres\0database\0postgres\0\0')
  const header = Buffer.alloc(8)
  header.writeInt32BE(8 + parameters.length, 0)
  header.writeInt32BE(3 << 16, 4)
  return Buffer.concat([header, parameters])
}
