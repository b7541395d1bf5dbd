import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sampleAudience } from '../../src/db/campaign-audience.js'
import type { Sql } from '../../src/db/client.js'
import { listMembers, walkMembers } from '../../src/db/list-members.js'
import { DEFAULT_WORKSPACE, newId } from '../../src/id.js'
import { DATABASE_KINDS, openTestDatabase, type TestDatabase } from '../support/test-database.js'

const OTHERS = 8_000
const MEMBERS = 2_000
const PAGE = 20

describe.each(DATABASE_KINDS)('on %s', (kind) => {
  let database: TestDatabase
  const [list, another] = [newId(), newId()]
  beforeAll(async () => {
    database = await openTestDatabase(kind)
  })
  beforeEach(() => database.clear())
  afterAll(() => database.close())

  /** Ids are in the order of `nth`, as those of an import are. */
  const fill = async (nth: number, count: number, listId: string) => {
    await database.db.query(
      `with people as (
         insert into postrider.contacts (id, workspace_id, address, folded_address, attributes)
         select ('019a0000-000' || $3::int || '-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, $1, address, address, '{}'
         from generate_series(1, $4::int) i, lateral (select 'p' || i || '@' || $3::int || '.example.com' as address) named
         returning id)
       insert into postrider.list_members (list_id, contact_id) select $2, id from people`,
      [DEFAULT_WORKSPACE, listId, nth, count],
    )
  }

  /** Counted on the connection that asks; what was counted before is not always taken away at once. */
  const readSoFar = async (tx: Sql) => {
    const { rows } = await tx.query<{ read: number }>(
      `select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_all_tables
       where relid = 'postrider.contacts'::regclass`,
    )
    return rows[0]!.read
  }
  /** How many contacts the server reads for something. */
  const countRead = (work: (tx: Sql) => Promise<readonly unknown[]>): Promise<[found: number, read: number]> =>
    database.db.transaction(async (tx) => {
      const before = await readSoFar(tx)
      const found = await work(tx)
      return [found.length, (await readSoFar(tx)) - before]
    })

  it('reads the people of a page, and not everybody who came before or after the list', async () => {
    await database.db.query(
      `insert into postrider.lists (id, workspace_id, name) values ($2, $1, 'Readers'), ($3, $1, 'Others')`,
      [DEFAULT_WORKSPACE, list, another],
    )
    await fill(1, OTHERS, another)
    await fill(2, MEMBERS, list)
    await fill(3, OTHERS, another)
    // By what the planner then knows, hardly anybody on the list may be mailed.
    await database.db.query(
      `with gone as (insert into postrider.opt_outs (list_id, address, source)
         select $1, 'gone' || i || '@example.com', 'import' from generate_series(1, $2::int) i)
       insert into postrider.suppressions (workspace_id, address, scope, reason)
         select $3, 'never' || i || '@example.com', 'all', 'manual' from generate_series(1, $2::int) i`,
      [list, OTHERS, DEFAULT_WORKSPACE],
    )
    for (const table of ['contacts', 'list_members', 'opt_outs', 'suppressions'])
      await database.db.query(`analyze postrider.${table}`)
    const half = '019a0000-0002-7000-8000-0000000003e8'
    const ways: Readonly<Record<string, (tx: Sql) => Promise<readonly unknown[]>>> = {
      'the newest': (tx) => listMembers(tx, list, {}, { limit: PAGE }),
      'those before them': (tx) => listMembers(tx, list, {}, { limit: PAGE, after: half }),
      'those of an export': (tx) => walkMembers(tx, list, half, PAGE),
      'those a preflight looks at': (tx) => sampleAudience(tx, DEFAULT_WORKSPACE, list, PAGE),
    }
    for (const [who, read] of Object.entries(ways)) {
      const [found, rows] = await countRead(read)
      expect([who, found]).toEqual([who, PAGE])
      // Or nothing was counted.
      expect(rows).toBeGreaterThanOrEqual(PAGE)
      expect(rows, who).toBeLessThanOrEqual(2 * PAGE)
    }
  })
})
