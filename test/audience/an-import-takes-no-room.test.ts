import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { readImport } from '../../src/operations/read-import.js'
import { exportList } from '../../src/operations/export-list.js'
import { importContacts } from '../../src/operations/import-contacts.js'
import type { Import } from '../../src/db/imports.js'
import { insertList } from '../../src/db/lists.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import { openMail } from '../sending/mail-fixture.js'

const MB = 1_048_576

async function* rowsOf(count: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from('email,name,company\n')
  for (let i = 0; i < count; i += 500)
    yield Buffer.from(
      Array.from({ length: 500 }, (_, k) => `person${i + k}@example.com,Person ${i + k},"Company, Ltd"\n`).join(''),
    )
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** What is still held once garbage is collected. */
const heap = () => {
  collect()
  return process.memoryUsage().heapUsed
}

it('a file is read without being held', async () => {
  let [rows, most] = [0, 0]
  const before = heap()
  for await (const { contacts } of readImport(rowsOf(100_000), [])) {
    rows += contacts.length
    if (rows % 25_000 === 0) most = Math.max(most, heap() - before)
  }
  expect(rows).toBe(100_000)
  // The file has 6 MB, and its rows as objects some 50.
  expect(most).toBeLessThan(8 * MB)
}, 60_000)

describe('a large list', () => {
  const fixture = openMail('PostgreSQL')
  it('comes in and goes out batch by batch', async () => {
    const { context } = fixture.mail
    const list = (await insertList(context.db, DEFAULT_WORKSPACE, newId(), { name: 'Large', description: null }))!
    const before = heap()
    let most = 0
    const onProgress = ({ rowsRead }: Import) => {
      if (rowsRead % 5_000 === 0) most = Math.max(most, heap() - before)
    }
    const ended = await importContacts(context, DEFAULT_WORKSPACE, list.id, rowsOf(20_000), { onProgress })
    expect(ended).toMatchObject({ status: 'done', created: 20_000, joined: 20_000 })
    let lines = 0
    for await (const text of exportList(context, list.id)) lines += text.split('\r\n').length - 1
    expect(lines).toBe(20_001)
    expect(most).toBeLessThan(15 * MB)
  }, 60_000)
})
