import { inject } from 'vitest'
import { connect, type Database } from '../../src/db/client.js'
import { openEmbedded } from '../../src/db/embedded/open-embedded.js'
import { copyEmbeddedTemplate } from './services/embedded-template.js'
import { fileDatabase } from './services/file-database.js'
import { takeKeptEmbedded } from './services/kept-embedded.js'

/** Every promise of the kernel is kept on both: `describe.each(DATABASE_KINDS)('on %s', (kind) => …)`. */
export const DATABASE_KINDS = ['PostgreSQL', 'the embedded database'] as const
export type DatabaseKind = (typeof DATABASE_KINDS)[number]

export interface TestDatabase {
  readonly db: Database
  /** What a Postrider of its own, in this or another process, would be given to use the same data. */
  readonly location: { readonly databaseUrl: string } | { readonly dataDirectory: string }
  /** Moves the clock that every statement through `db` reads, against the server's own. */
  shiftClock(ms: number): Promise<void>
  /** Forgets all actions, lanes and leases, and sets the clock right. */
  clear(): Promise<void>
  close(): Promise<void>
}

// All but the workspaces: the default one comes with the schema.
const TABLES = [
  'scheduled_actions',
  'ready_actions',
  'published_hints',
  'dead_letters',
  'leases',
  'lanes',
  'messages',
  'attachments',
  'attempts',
  'throughput_minutes',
  'rollups',
  'events',
  'idempotency_keys',
  'captured_emails',
  'suppressions',
  'sender_days',
  'senders',
  'api_keys',
  'enrollments',
  'campaign_lists',
  'campaign_steps',
  'campaign_senders',
  'campaigns',
  'sequence_versions',
  'sequences',
  'imports',
  'opt_outs',
  'list_members',
  'lists',
  'contacts',
  'template_versions',
  'templates',
  'dashboard_sessions',
  'dashboard_links',
  'dashboard_users',
  'audit_log',
]

/** Rows from which on emptying a table's files is cheaper than deleting what is in them. */
const LARGE = 500
const IS_ANY_LARGE = TABLES.map((table) => `exists (select from postrider.${table} offset ${LARGE})`).join(' or ')
const TRUNCATE = `truncate ${TABLES.map((table) => `postrider.${table}`).join(', ')} cascade`
// New files for thirty tables and all their indexes take a hundred times as long as deleting a test's handful of rows.
// One statement, so that what refers to what is asked when all of it is gone.
const DELETE = `with ${TABLES.map((table) => `${table} as (delete from postrider.${table})`).join(', ')} select`

// A clock in a table, so that all connections and processes that ask it agree, and no statement needs to be told.
export const NOW = `(now() + (select shift from public.test_clock))`

export async function openTestDatabase(kind: DatabaseKind): Promise<TestDatabase> {
  if (kind === 'PostgreSQL') {
    const databaseUrl = await fileDatabase()
    const db = connect({ connection: { connectionString: databaseUrl }, maxConnections: 10, now: NOW })
    return control(db, { databaseUrl }, () => db.close())
  }
  const { embedded, directory, leave } = await openEmbeddedDatabase()
  const connection = { ...embedded.socket, user: 'postgres', database: 'postgres' }
  const db = connect({
    connection,
    maxConnections: 4,
    embedded: true,
    now: NOW,
    onNotify: (listener) => embedded.onNotify(listener),
  })
  return control(db, { dataDirectory: directory }, async () => {
    await db.close()
    await leave()
  })
}

async function openEmbeddedDatabase() {
  const kept = takeKeptEmbedded()
  if (kept) return { ...kept, leave: async () => kept.giveBack() }
  const { directory, remove } = copyEmbeddedTemplate(inject('embeddedTemplate'))
  const embedded = await openEmbedded({ directory })
  const leave = async () => {
    await embedded.close()
    remove()
  }
  return { embedded, directory, leave }
}

async function control(
  db: Database,
  location: TestDatabase['location'],
  close: () => Promise<void>,
): Promise<TestDatabase> {
  await db.query(`create table if not exists public.test_clock (shift interval not null)`)
  const setShift = (ms: number) =>
    db.query(
      `with gone as (delete from public.test_clock) insert into public.test_clock values ($1 * interval '1 ms')`,
      [ms],
    )
  await setShift(0)
  let shift = 0
  return {
    db,
    location,
    async shiftClock(ms) {
      shift += ms
      await setShift(shift)
    },
    async clear() {
      shift = 0
      await setShift(0)
      const { rows } = await db.query<{ large: boolean }>(`select ${IS_ANY_LARGE} as large`)
      await db.query(rows[0]!.large ? TRUNCATE : DELETE)
    },
    close,
  }
}
