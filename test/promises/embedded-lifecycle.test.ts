import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'

import { findOwner } from '../../src/db/embedded/directory-lock.js'
import { Maintenance } from '../../src/db/embedded/maintenance.js'
import { openEmbedded } from '../../src/db/embedded/open-embedded.js'
import { SessionTurns } from '../../src/db/embedded/session-turns.js'
import { prepareSocket, socketFile } from '../../src/db/embedded/socket-path.js'
import { startBackend } from '../../src/db/embedded/start-backend.js'
import { WireServer } from '../../src/db/embedded/wire-server.js'
import { startOther, temporaryDirectory } from './embedded-processes.js'

const directory = temporaryDirectory()
afterAll(directory.remove)

/** Longer than any socket path may be. */
const deep = join(directory.path, ...Array.from({ length: 12 }, (_, level) => `a-rather-long-directory-name-${level}`))

async function query(socket: { host: string; port: number }, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ ...socket, user: 'postgres', database: 'postgres' })
  // A connection that ends by itself is reported here as well as to the query.
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows as unknown[]
  } finally {
    await client.end()
  }
}

describe('an embedded database', () => {
  test('works in a directory whose path is too long for a socket, and starts over what a crash left half-made', async () => {
    mkdirSync(join(deep, 'data.new', 'base'), { recursive: true })
    writeFileSync(join(deep, 'data.new', 'PG_VERSION'), '18\n')
    const db = await openEmbedded({ directory: deep })
    expect(db.durability).toEqual({ fsync: true })
    expect(existsSync(join(deep, 'data.new'))).toBe(false)
    const settings = await query(
      db.socket,
      `select name, setting from pg_settings
        where name in ('fsync', 'synchronous_commit', 'full_page_writes', 'wal_sync_method') order by name`,
    )
    expect(settings).toEqual([
      { name: 'fsync', setting: 'on' },
      { name: 'full_page_writes', setting: 'on' },
      { name: 'synchronous_commit', setting: 'on' },
      { name: 'wal_sync_method', setting: 'fsync' },
    ])
    await query(db.socket, "create table kept as select 'still here' as word")
    const attached = startOther('query', deep, 'select word from kept')
    expect(await attached.hears('rows')).toEqual({ rows: [{ word: 'still here' }] })
    await db.close()
    await db.close()
    expect(existsSync(socketFile(db.socket))).toBe(false)
  })

  test('opens again after close with everything in it, and leaves no thread or file open', async () => {
    // The first one may start threads that stay for good (the pool of Node itself).
    await (await openEmbedded({ directory: deep })).close()
    const before = openThings()
    const db = await openEmbedded({ directory: deep })
    expect(await query(db.socket, 'select word from kept')).toEqual([{ word: 'still here' }])
    await db.close()
    expect(openThings()).toEqual(before)
  })

  test('does not keep a process alive once it is closed', async () => {
    const child = startOther('cycle', deep)
    await child.hears('closed')
    expect(await child.exit).toBe(0)
  })

  test('says so when its backend dies, lets clients fail instead of hang, and can be opened again', async () => {
    let onCrash!: (reason: string) => void
    const died = new Promise<string>((resolve) => (onCrash = resolve))
    const db = await openEmbedded({ directory: deep, onCrash })
    // A disk that fails: the WAL cannot be written, and PostgreSQL panics.
    renameSync(join(deep, 'data', 'pg_wal'), join(deep, 'data', 'pg_wal.gone'))
    const write = "insert into kept select pg_switch_wal()::text; insert into kept values ('never confirmed')"
    await expect(query(db.socket, write)).rejects.toThrow()
    expect(await died).not.toBe('')
    await expect(db.close()).rejects.toThrow('did not close cleanly')
    expect(await findOwner(deep)).toBeNull()

    renameSync(join(deep, 'data', 'pg_wal.gone'), join(deep, 'data', 'pg_wal'))
    const again = await openEmbedded({ directory: deep })
    expect(await query(again.socket, 'select word from kept')).toEqual([{ word: 'still here' }])
    await again.close()
  })

  test('ends a client that sits in an open transaction, rolls it back, and lets the others go on', async () => {
    const backend = await startBackend(deep, (reason) => {
      throw new Error(reason)
    })
    const server = new WireServer(backend, new SessionTurns(300), () => {})
    const socket = prepareSocket(deep)
    await server.listen(socket)
    const [sitting, waiting] = [new pg.Client({ ...socket, user: 'u' }), new pg.Client({ ...socket, user: 'u' })]
    const ended = new Promise<Error>((resolve) => sitting.on('error', resolve))
    await sitting.connect()
    await waiting.connect()
    await sitting.query('begin')
    await sitting.query("insert into kept values ('not kept')")
    expect((await waiting.query('select word from kept')).rows).toEqual([{ word: 'still here' }])
    expect((await ended).message).toContain('held a transaction open')
    await waiting.end()
    await server.close()
    await backend.close()
  })

  test('is vacuumed, analysed and checkpointed', async () => {
    const backend = await startBackend(deep, (reason) => {
      throw new Error(reason)
    })
    const steps: string[] = []
    const maintenance = new Maintenance(backend, new SessionTurns(), (_, detail) => {
      steps.push((detail as { step: string }).step)
    })
    backend.query("create table churned as select n, repeat('x', 2000) as filler from generate_series(1, 20000) n")
    backend.query('update churned set n = n + 1')
    backend.query('select pg_stat_force_next_flush()')
    backend.query('select 1')
    for (let step = 0; step < 20 && steps.length === step; step++) maintenance.runStep()
    await backend.close()
    expect(steps[0]).toBe('CHECKPOINT')
    expect(steps).toContain('VACUUM (ANALYZE) public.churned')
    expect(steps.length).toBeLessThan(20)
  })
})

function openThings(): { threads: number; files: number } {
  return { threads: readdirSync('/proc/self/task').length, files: readdirSync('/proc/self/fd').length }
}
