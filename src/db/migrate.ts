import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { PostriderError } from '../errors.js'
import type { Database, Sql } from './client.js'

/**
 * Brings the schema up to date with the migrations shipped in this package.
 *
 * Any number of processes may start at once: the first takes an advisory lock that lasts as long as its transaction,
 * the others wait for it and then find nothing to do. All that is missing is applied in one transaction, so a crash
 * leaves either the old schema or the new one. A migration that was applied and then edited, or one this package does
 * not know, is refused: guessing about a schema that holds somebody's mail is worse than stopping.
 */
const MIGRATIONS = fileURLToPath(new URL('../../migrations/', import.meta.url))

// "postride" as bytes: a number nobody else is likely to lock.
const LOCK = '8102099357864587365'

interface Migration {
  readonly name: string
  readonly checksum: string
  readonly sql: string
}

export type SchemaStatus =
  | { readonly kind: 'current'; readonly version: string }
  | { readonly kind: 'outdated'; readonly missing: readonly string[] }
  | { readonly kind: 'newer'; readonly unknown: readonly string[] }
  | { readonly kind: 'edited'; readonly names: readonly string[] }

export interface MigrateOptions {
  /** Where the migrations are; the package's own unless a test says otherwise. */
  readonly directory?: string
}

/** Applies what is missing and returns the names of what it applied. */
export async function migrate(db: Database, options: MigrateOptions = {}): Promise<string[]> {
  const shipped = await readMigrations(options.directory)
  await refuseOldServer(db)
  return db.transaction(async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(${LOCK})`)
    await tx.query('create schema if not exists postrider')
    await tx.query(`create table if not exists postrider.migrations (
      name text primary key, checksum text not null, applied_at timestamptz not null default now())`)
    const status = compare(shipped, await readApplied(tx))
    if (status.kind === 'current') return []
    if (status.kind !== 'outdated') throw refusal(status)
    for (const migration of shipped.filter(({ name }) => status.missing.includes(name))) {
      await tx.query(migration.sql)
      await tx.query('insert into postrider.migrations (name, checksum) values ($1, $2)', [
        migration.name,
        migration.checksum,
      ])
    }
    return [...status.missing]
  })
}

/** How the schema stands, without changing anything. */
export async function readSchemaStatus(db: Sql, options: MigrateOptions = {}): Promise<SchemaStatus> {
  const shipped = await readMigrations(options.directory)
  const { rows } = await db.query<{ exists: boolean }>(
    `select to_regclass('postrider.migrations') is not null as exists`,
  )
  return compare(shipped, rows[0]?.exists ? await readApplied(db) : [])
}

/** For processes that must not change the schema themselves. */
export async function requireCurrentSchema(db: Sql): Promise<void> {
  const status = await readSchemaStatus(db)
  if (status.kind !== 'current') throw refusal(status)
}

function compare(shipped: readonly Migration[], applied: readonly Omit<Migration, 'sql'>[]): SchemaStatus {
  const unknown = applied.filter(({ name }) => shipped.every((migration) => migration.name !== name))
  if (unknown.length > 0) return { kind: 'newer', unknown: unknown.map(({ name }) => name) }
  const edited = shipped.filter(({ name, checksum }) =>
    applied.some((migration) => migration.name === name && migration.checksum !== checksum),
  )
  if (edited.length > 0) return { kind: 'edited', names: edited.map(({ name }) => name) }
  const missing = shipped.filter(({ name }) => applied.every((migration) => migration.name !== name))
  if (missing.length > 0) return { kind: 'outdated', missing: missing.map(({ name }) => name) }
  return { kind: 'current', version: shipped.at(-1)?.name ?? 'none' }
}

function refusal(status: Exclude<SchemaStatus, { kind: 'current' }>): PostriderError {
  switch (status.kind) {
    case 'outdated':
      return new PostriderError(
        'schema_outdated',
        `The database schema misses ${status.missing.join(', ')}. Run "postrider migrate" first.`,
      )
    case 'newer':
      return new PostriderError(
        'schema_newer',
        `The database has ${status.unknown.join(', ')}, which this version of Postrider does not know. ` +
          'Run the newer version of Postrider that made it.',
      )
    case 'edited':
      return new PostriderError(
        'migration_edited',
        `Already applied in another form: ${status.names.join(', ')}. Restore the files as they were shipped; ` +
          'a change to the schema goes into a new migration.',
      )
  }
}

const readApplied = async (db: Sql) =>
  (await db.query<{ name: string; checksum: string }>('select name, checksum from postrider.migrations order by name'))
    .rows

async function readMigrations(directory = MIGRATIONS): Promise<Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).toSorted()
  return Promise.all(
    files.map(async (file) => {
      const sql = await readFile(`${directory}/${file}`, 'utf8')
      // Line endings are not content: a checkout that converts them must not look like an edit.
      const checksum = createHash('sha256').update(sql.replaceAll('\r\n', '\n')).digest('hex')
      return { name: file.slice(0, -'.sql'.length), checksum, sql }
    }),
  )
}

async function refuseOldServer(db: Sql): Promise<void> {
  const { rows } = await db.query<{ version: number; label: string }>(
    `select current_setting('server_version_num')::int as version, current_setting('server_version') as label`,
  )
  if ((rows[0]?.version ?? 0) < 150_000)
    throw new PostriderError(
      'database_unsupported',
      `Postrider needs PostgreSQL 15 or newer; this server is ${rows[0]?.label ?? 'unknown'}.`,
    )
}
