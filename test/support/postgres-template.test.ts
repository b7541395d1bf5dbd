import { spawnSync } from 'node:child_process'
import { expect, inject, test } from 'vitest'
import { databaseUrl, withAdminConnection } from './services/admin-connection.js'
import { fileDatabase } from './services/file-database.js'
import { cloneDatabase, createTemplate } from './services/postgres-template.js'
import { dropAbandonedDatabases, dropRunDatabases } from './services/run-databases.js'

const { adminUrl } = inject('template')

test('a clone holds what the template was prepared with, and what is done to it stays in it', async () => {
  const template = await createTemplate(adminUrl, async (url) => {
    await query(url, 'create table prepared (id int)')
  })
  const [first, second] = await Promise.all([cloneDatabase(template), cloneDatabase(template)])
  await query(first.url, 'insert into prepared values (1)')
  expect(await query(first.url, 'select * from prepared')).toHaveLength(1)
  expect(await query(second.url, 'select * from prepared')).toHaveLength(0)
  await first.drop()
  expect(await databasesNamed(first.name)).toEqual([])

  await expect(query(databaseUrl(adminUrl, template.database), 'select 1')).rejects.toThrow('not currently accepting')

  await dropRunDatabases(adminUrl, template.runId)
  expect(await databasesNamed(second.name)).toEqual([])
  expect(await databasesNamed(template.database)).toEqual([])
})

test('databases of a run whose process is gone are dropped, those of a living one are not', async () => {
  const template = await createTemplate(adminUrl, async () => {})
  const deadPid = spawnSync('true').pid
  const abandoned = template.database.replace(`_${process.pid}_`, `_${deadPid}_`)
  await query(adminUrl, `alter database "${template.database}" rename to "${abandoned}"`)
  const alive = await createTemplate(adminUrl, async () => {})
  expect(await dropAbandonedDatabases(adminUrl)).toContain(abandoned)
  expect(await databasesNamed(abandoned)).toEqual([])
  expect(await databasesNamed(alive.database)).toHaveLength(1)
  await dropRunDatabases(adminUrl, alive.runId)
})

test('a test file has one database for itself', async () => {
  const [first, second] = await Promise.all([fileDatabase(), fileDatabase()])
  expect(second).toBe(first)
  expect(await query(first, 'select 1 as one')).toEqual([{ one: 1 }])
})

function databasesNamed(name: string): Promise<unknown[]> {
  return query(adminUrl, `select datname from pg_database where datname = '${name}'`)
}

async function query(url: string, sql: string): Promise<unknown[]> {
  return withAdminConnection(url, async (client) => (await client.query<Record<string, unknown>>(sql)).rows)
}
