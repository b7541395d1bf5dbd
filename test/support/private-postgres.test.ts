import { existsSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withAdminConnection } from './services/admin-connection.js'
import { type PrivatePostgres, startPrivatePostgres } from './services/private-postgres.js'

let postgres: PrivatePostgres

beforeAll(async () => {
  postgres = await startPrivatePostgres()
  await query('create table committed (id int)')
})

afterAll(() => postgres.dispose())

test('a private PostgreSQL answers, with fsync on and room for 200 connections', async () => {
  const [settings] = await query(
    `select current_setting('fsync') as fsync, current_setting('max_connections') as connections`,
  )
  expect(settings).toEqual({ fsync: 'on', connections: '200' })
})

test('what was committed survives an immediate restart, which is a crash to PostgreSQL', async () => {
  await query('insert into committed values (1)')
  const before = postgres.pid()
  await postgres.restart('immediate')
  expect(postgres.pid()).not.toBe(before)
  expect(await query('select id from committed where id = 1')).toHaveLength(1)
})

test('a kill ends a statement that is under way, and the server starts again at the same URL', async () => {
  const client = new pg.Client(postgres.url)
  // Told of its loss once or twice: a connection may be reset before it ends.
  const lost = new Promise((resolve) => client.on('error', resolve))
  await client.connect()
  const busy = client.query(`insert into committed select 2 from pg_sleep(60)`)
  const refused = expect(busy).rejects.toThrow(/Connection terminated unexpectedly|ECONNRESET/)
  await postgres.kill()
  await refused
  await lost
  await postgres.start()
  expect(await query('select id from committed where id = 2')).toHaveLength(0)
})

test('stopped, it has no pid; started, it answers again', async () => {
  await postgres.stop('fast')
  expect(() => postgres.pid()).toThrow('not running')
  await postgres.start()
  expect(await query('select 1 as one')).toEqual([{ one: 1 }])
})

test('disposed of, it leaves neither process nor directory', async () => {
  const pid = postgres.pid()
  await postgres.dispose()
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  expect(existsSync(postgres.directory)).toBe(false)
})

async function query(sql: string): Promise<unknown[]> {
  return withAdminConnection(postgres.url, async (client) => (await client.query<Record<string, unknown>>(sql)).rows)
}
