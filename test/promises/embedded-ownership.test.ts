import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'

import { DirectoryInUseError, findOwner } from '../../src/db/embedded/directory-lock.js'
import { openEmbedded } from '../../src/db/embedded/open-embedded.js'
import { startOther, usedDirectory } from './embedded-processes.js'

const directory = usedDirectory()
afterAll(directory.remove)

describe('an embedded database has one owner', () => {
  test('a second process is refused and told who owns it, and can attach instead', async () => {
    expect(await findOwner(directory.path)).toBeNull()
    const db = await openEmbedded({ directory: directory.path })
    expect(db.durability).toEqual({ fsync: true })
    expect(statSync(directory.path).mode & 0o777).toBe(0o700)

    const { refused } = await startOther('open', directory.path).hears('refused')
    expect(refused).toMatchObject({ pid: process.pid, socket: db.socket })
    expect((refused as { message: string }).message).toContain(`process ${process.pid}`)

    const attached = startOther('query', directory.path, 'select 6 * 7 as answer')
    expect(await attached.hears('rows')).toEqual({ rows: [{ answer: 42 }] })
    expect(attached.said[0]).toEqual({ owner: { pid: process.pid, socket: db.socket } })

    await db.close()
    expect(await findOwner(directory.path)).toBeNull()
  })

  test('the same process is refused as well, by any spelling of the path', async () => {
    const db = await openEmbedded({ directory: directory.path })
    const again = openEmbedded({ directory: join(directory.path, '..', directory.path.split('/').at(-1)!) })
    await expect(again).rejects.toThrow(DirectoryInUseError)
    await expect(again).rejects.toThrow('this very process')

    const client = new pg.Client({ ...db.socket, user: 'postgres', database: 'postgres' })
    await client.connect()
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    await client.end()
    await db.close()
  })

  test('of several that start at the same moment exactly one wins', async () => {
    const results = await Promise.allSettled([1, 2, 3].map(() => openEmbedded({ directory: directory.path })))
    const winners = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    for (const winner of winners) await winner.close()
    expect(winners).toHaveLength(1)
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(DirectoryInUseError)
    }
  })

  test('the directory of an owner that was killed is free at once', async () => {
    const owner = startOther('hold', directory.path)
    await owner.hears('opened')
    expect(await findOwner(directory.path)).toMatchObject({ pid: owner.pid })
    await owner.kill()

    expect(await findOwner(directory.path)).toBeNull()
    const db = await openEmbedded({ directory: directory.path })
    expect(await findOwner(directory.path)).toEqual({ pid: process.pid, socket: db.socket })
    await db.close()
  })

  test('whoever only looks for the owner does not get an opener refused', async () => {
    const looker = spawn('flock', ['-s', join(directory.path, 'lock'), 'cat'], { stdio: ['pipe', 'pipe', 'ignore'] })
    looker.stdin.write('looking')
    await once(looker.stdout, 'data')
    const opening = openEmbedded({ directory: directory.path })
    expect(await findOwner(directory.path)).toBeNull()
    await delay(400)
    looker.stdin.end()
    await (await opening).close()
  })
})
