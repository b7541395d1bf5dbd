import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect, type Database } from '../../src/db/client.js'
import { openTestDatabase, type TestDatabase } from '../support/test-database.js'

/**
 * A pooler gives a transaction whichever connection to the server is free. A statement that was prepared on another is
 * not known there. Here the server is told to forget all of them, which looks the same to us.
 */
describe('statements with names', () => {
  let database: TestDatabase
  let db: Database
  const open = () => {
    const { databaseUrl } = database.location as { databaseUrl: string }
    return connect({ connection: { connectionString: databaseUrl }, maxConnections: 1 })
  }
  beforeAll(async () => {
    database = await openTestDatabase('PostgreSQL')
    db = open()
    await db.query('create table public.notes (text text)')
  })
  afterAll(async () => {
    await db.close()
    await database.close()
  })

  const insert = 'insert into public.notes (text) values ($1)'
  const notes = async () =>
    (await db.query<{ text: string }>('select text from public.notes order by 1')).rows.map((row) => row.text)
  const names = async () =>
    (await db.query<{ name: string }>('select name from pg_prepared_statements')).rows.map((row) => row.name)

  it('are sent without while there is little: a plan that was made for nothing reads a lot of it', async () => {
    await db.query(insert, ['none'], { name: 'note' })
    await db.transaction((tx) => tx.query(insert, ['nor here'], { name: 'note' }))
    expect(await names()).toEqual([])
    await db.query('truncate public.notes')
  })

  it('are sent by name when there is much, in a transaction as well as alone', async () => {
    await db.query(
      `insert into postrider.scheduled_actions (id, workspace_id, lane_id, type, dedupe_key, run_at)
       select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'test', i::text, now()
       from generate_series(1, 30000) i`,
    )
    await db.close()
    db = open()
    await db.query(insert, ['one'], { name: 'note' })
    await db.transaction((tx) => tx.query(insert, ['two'], { name: 'other note' }))
    expect(await names()).toEqual(expect.arrayContaining(['note', 'other note']))
  })

  it('that the server does not know make a transaction run once more, whole, and are never sent again', async () => {
    let runs = 0
    await db.transaction(async (tx) => {
      runs++
      await tx.query(insert, ['before'])
      if (runs === 1) await tx.query('deallocate all')
      await tx.query(insert, ['behind'], { name: 'note' })
    })
    expect(runs).toBe(2)
    expect(await notes()).toEqual(['before', 'behind', 'one', 'two'])
    await db.query(insert, ['three'], { name: 'a new note' })
    await db.transaction((tx) => tx.query(insert, ['two more'], { name: 'another new note' }))
    expect(await names()).toEqual([])
  })

  it('are no excuse for what else goes wrong: that is not run again', async () => {
    let runs = 0
    const failing = db.transaction(async (tx) => {
      runs++
      await tx.query('select 1 / 0')
    })
    await expect(failing).rejects.toThrow('division by zero')
    expect(runs).toBe(1)
  })
})
