import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { migrate, readSchemaStatus, requireCurrentSchema } from '../../src/db/migrate.js'
import { openKernel } from '../support/kernel.js'
import { DATABASE_KINDS } from '../support/test-database.js'

const ROOT = join(import.meta.dirname, '../..')
const SHIPPED = join(ROOT, 'migrations')
const NAMES = readdirSync(SHIPPED)
  .filter((file) => file.endsWith('.sql'))
  .map((file) => file.slice(0, -4))
  .toSorted()

const temporary = () => {
  const directory = mkdtempSync(join(tmpdir(), 'postrider-migrations-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  const kernel = openKernel(kind)
  const empty = () => kernel.db.query('drop schema if exists postrider cascade')
  afterEach(async () => {
    await empty()
    await migrate(kernel.db)
  })
  const copyShipped = () => {
    const directory = temporary()
    cpSync(SHIPPED, directory, { recursive: true })
    return directory
  }

  it('are applied once by ten processes that start at the same time', async () => {
    await empty()
    const applied = await Promise.all(Array.from({ length: 10 }, () => migrate(kernel.db)))
    expect(applied.filter((names) => names.length > 0)).toEqual([NAMES])
    const { rows } = await kernel.db.query('select name from postrider.migrations order by name')
    expect(rows.map((row) => (row as { name: string }).name)).toEqual(NAMES)
    await requireCurrentSchema(kernel.db)
    await kernel.one()
    expect((await kernel.claim()).actions).toHaveLength(1)
  })

  it('are required by whoever must not apply them', async () => {
    await empty()
    await expect(requireCurrentSchema(kernel.db)).rejects.toMatchObject({ code: 'schema_outdated' })
    await expect(requireCurrentSchema(kernel.db)).rejects.toThrow('postrider migrate')
    // Asking changes nothing.
    expect((await kernel.db.query(`select from pg_namespace where nspname = 'postrider'`)).rowCount).toBe(0)
  })

  it('are refused when one that was applied has been edited', async () => {
    const directory = copyShipped()
    const first = join(directory, `${NAMES[0]}.sql`)
    writeFileSync(first, `${readFileSync(first, 'utf8')}\n-- a harmless comment`)
    await expect(migrate(kernel.db, { directory })).rejects.toMatchObject({
      code: 'migration_edited',
      message: expect.stringContaining(NAMES[0]!) as string,
    })
  })

  it('are the same in whatever way a checkout ends its lines', async () => {
    const directory = copyShipped()
    for (const name of NAMES) {
      const text = readFileSync(join(directory, `${name}.sql`), 'utf8')
      writeFileSync(join(directory, `${name}.sql`), text.replaceAll('\n', '\r\n'))
    }
    expect(await migrate(kernel.db, { directory })).toEqual([])
  })

  it('are refused when the database has one that is not known', async () => {
    await kernel.db.query(`insert into postrider.migrations values ('9999_future', 'x')`)
    await expect(migrate(kernel.db)).rejects.toMatchObject({ code: 'schema_newer' })
    await expect(requireCurrentSchema(kernel.db)).rejects.toThrow('9999_future')
  })

  it('are applied all or none', async () => {
    const directory = copyShipped()
    writeFileSync(join(directory, '9998_good.sql'), 'create table postrider.good (id int)')
    writeFileSync(join(directory, '9999_bad.sql'), 'create table postrider.bad (id nonsense)')
    await expect(migrate(kernel.db, { directory })).rejects.toThrow('nonsense')
    expect(await readSchemaStatus(kernel.db)).toEqual({ kind: 'current', version: NAMES.at(-1) })
    expect((await kernel.db.query(`select from pg_class where relname = 'good'`)).rowCount).toBe(0)
    rmSync(join(directory, '9999_bad.sql'))
    expect(await migrate(kernel.db, { directory })).toEqual(['9998_good'])
  })

  it('bring what was written before in order: a walk that had completed is at the end', async () => {
    await empty()
    const before = copyShipped()
    for (const name of NAMES.filter((one) => one >= '0011')) rmSync(join(before, `${name}.sql`))
    await migrate(kernel.db, { directory: before })
    const states = ['completed', 'stopped', 'active']
    await kernel.db.transaction(async (tx) => {
      // Without the campaign they would belong to.
      await tx.query(`set local session_replication_role = replica`)
      await tx.query(
        `insert into postrider.enrollments (id, workspace_id, campaign_id, sequence_id, contact_id, sender_id, state,
           node_id, moved_at, reason_code, finished_at)
         select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),
           gen_random_uuid(), state, 'last', now(), case state when 'stopped' then 'replied' end,
           case when state <> 'active' then now() end
         from unnest($1::text[]) state`,
        [states],
      )
    })
    expect(await migrate(kernel.db)).toEqual(NAMES.filter((one) => one >= '0011'))
    const { rows } = await kernel.db.query('select state, node_id, arrived from postrider.enrollments order by state')
    expect(rows).toEqual([
      { state: 'active', node_id: 'last', arrived: false },
      { state: 'completed', node_id: null, arrived: true },
      { state: 'stopped', node_id: 'last', arrived: false },
    ])
  })

  it('touch nothing but their own schema', async () => {
    await empty()
    const everythingElse = async () =>
      (
        await kernel.db.query(
          `select n.nspname, c.relname, c.relkind from pg_class c join pg_namespace n on n.oid = relnamespace
           where nspname not like 'pg\\_%' and nspname not in ('information_schema', 'postrider')
           union all select extname, '', '' from pg_extension
           union all select nspname, '', 'n' from pg_namespace where nspname <> 'postrider' and nspname not like 'pg\\_%'
           order by 1, 2, 3`,
        )
      ).rows
    await kernel.db.query(`create schema if not exists shop; create table if not exists shop.orders (id int)`)
    const before = await everythingElse()
    await migrate(kernel.db)
    expect(await everythingElse()).toEqual(before)
    await kernel.db.query('drop schema shop cascade')
  })
})

it('are all that the schema in the code needs: generating again writes nothing new', async () => {
  const directory = temporary()
  for (const part of [
    'migrations',
    'src/db/schema',
    'src/domain',
    'drizzle.config.ts',
    'package.json',
    'tsconfig.json',
  ])
    cpSync(join(ROOT, part), join(directory, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  const before = readdirSync(join(directory, 'migrations')).toSorted()
  const kit = join(ROOT, 'node_modules/drizzle-kit/bin.cjs')
  const { stdout } = await promisify(execFile)(process.execPath, [kit, 'generate'], { cwd: directory })
  expect(stdout).toContain('No schema changes')
  expect(readdirSync(join(directory, 'migrations')).toSorted()).toEqual(before)
}, 60_000)
