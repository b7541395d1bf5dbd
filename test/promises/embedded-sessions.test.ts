import { connect, type Socket } from 'node:net'

import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { openEmbedded, type EmbeddedDatabase } from '../../src/db/embedded/open-embedded.js'
import { socketFile } from '../../src/db/embedded/socket-path.js'
import { startOther, usedDirectory } from './embedded-processes.js'

const directory = usedDirectory()
let db: EmbeddedDatabase
let pool: pg.Pool

beforeAll(async () => {
  db = await openEmbedded({ directory: directory.path })
  pool = new pg.Pool({ ...db.socket, user: 'postgres', database: 'postgres', max: 8 })
  await pool.query('create table entries (who int, round int, transaction text)')
})
afterAll(async () => {
  await pool.end()
  await db.close()
  directory.remove()
})

describe('connections share one session and must not notice', () => {
  test('eight connections with parameters and transactions never mix', async () => {
    const ROUNDS = 40
    const walk = async (who: number) => {
      const client = await pool.connect()
      try {
        for (let round = 0; round < ROUNDS; round++) {
          const echoed = await client.query(
            who % 2 ? 'select $1::int as who, $2::text as word' : 'select $2::text as word, $1::int as who, 1 as more',
            [who, `${who}-${round}-${'x'.repeat((who * round * 977) % 100_000)}`],
          )
          expect(echoed.rows[0].who).toBe(who)
          expect(echoed.rows[0].word.startsWith(`${who}-${round}-`)).toBe(true)

          await client.query('begin')
          await client.query('insert into entries values ($1, $2, pg_current_xact_id()::text)', [who, round])
          const mine = await client.query(
            'select distinct who from entries where transaction = pg_current_xact_id()::text',
          )
          expect(mine.rows).toEqual([{ who }])
          if (round % 4 === 3) await expect(client.query('select 1 / 0')).rejects.toThrow('division by zero')
          await client.query(round % 2 ? 'rollback' : 'commit')
        }
      } finally {
        client.release()
      }
    }
    await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(walk))
    const { rows } = await pool.query('select who, count(*)::int from entries group by who order by who')
    expect(rows).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((who) => ({ who, count: ROUNDS / 2 })))
  })

  test('a statement that arrives in pieces meets nobody else’s', async () => {
    const slow = await RawClient.open(db)
    slow.write(message('P', "\0select 'slow' as word\0\0\0"))
    expect((await pool.query("select 'quick' as word, $1::int as n", [1])).rows).toEqual([{ word: 'quick', n: 1 }])
    const rest = Buffer.concat([message('B', '\0\0\0\0\0\0\0\0'), message('E', '\0\0\0\0\0'), message('S', '')])
    for (const byte of rest) slow.write(Buffer.from([byte]))
    expect(await slow.answer()).toContain('slow')
    slow.end()
  })

  test('while a statement is half-way after a Flush, others wait', async () => {
    const flushing = await RawClient.open(db)
    flushing.write(Buffer.concat([message('P', '\0select 1234567 as n\0\0\0'), message('H', '')]))
    await flushing.received('1')
    const other = pool.query('select $1::text as word', ['other'])
    flushing.write(Buffer.concat([message('B', '\0\0\0\0\0\0\0\0'), message('E', '\0\0\0\0\0'), message('S', '')]))
    expect(await flushing.answer()).toContain('1234567')
    expect((await other).rows).toEqual([{ word: 'other' }])
    flushing.end()
  })

  test('a client killed inside a transaction is rolled back and the others go on', async () => {
    const child = startOther('transact', directory.path, "insert into entries values (99, 0, 'killed')")
    await child.hears('inTransaction')
    const waiting = pool.query('select count(*)::int from entries where who = 99')
    await child.kill()
    expect((await waiting).rows).toEqual([{ count: 0 }])
  })

  test('what a connection had set does not outlive it', async () => {
    const child = startOther(
      'query',
      directory.path,
      "select set_config('search_path', 'nowhere', false), set_config('statement_timeout', '1h', false)",
    )
    await child.hears('rows')
    await child.exit
    const { rows } = await pool.query(
      "select current_setting('search_path') as a, current_setting('statement_timeout') as b",
    )
    expect(rows).toEqual([{ a: 'public', b: '0' }])
  })

  test('a client that does not speak the protocol harms nobody', async () => {
    const nonsense = [
      Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'),
      Buffer.from([0, 0, 0, 4, 0, 0, 0, 0]),
      Buffer.from([0x7f, 0xff, 0xff, 0xff, 0, 3, 0, 0]),
      Buffer.from([0, 0, 0, 8, 0, 2, 0, 0]),
    ]
    for (const bytes of nonsense) {
      const client = new RawClient(db)
      client.write(bytes)
      await client.closed
    }
    for (const bytes of [
      message('z', 'what is this'),
      Buffer.from([0x51, 0, 0, 0, 1]),
      Buffer.from([0x51, 0x7f, 0xff, 0xff, 0xff]),
    ]) {
      const client = await RawClient.open(db)
      client.write(bytes)
      await client.closed
    }
    // Well framed, wrong inside: an error, not the end.
    const client = await RawClient.open(db)
    client.write(Buffer.concat([message('B', '\0'), message('S', '')]))
    expect(await client.answer()).toContain('ERROR')
    client.end()
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  test('COPY FROM STDIN is refused in words, COPY TO STDOUT works, and the session lives on', async () => {
    await expect(pool.query('copy entries from stdin')).rejects.toThrow('not available on the embedded database')
    const pipelined = await RawClient.open(db)
    const run = [message('B', '\0\0\0\0\0\0\0\0'), message('E', '\0\0\0\0\0')]
    pipelined.write(
      Buffer.concat([
        message('P', '\0copy entries from stdin\0\0\0'),
        ...run,
        message('P', '\0select 1\0\0\0'),
        ...run,
        message('S', ''),
      ]),
    )
    expect(await pipelined.answer()).toContain('not available on the embedded database')
    pipelined.write(message('Q', 'copy (select 77) to stdout\0'))
    expect(await pipelined.answer()).toContain('77\n')
    pipelined.end()
  })

  test('a large statement and a large answer pass whole', async () => {
    const word = 'ä'.repeat(3_000_000)
    const { rows } = await pool.query('select $1::text as word from generate_series(1, 3)', [word])
    expect(rows.map((row: { word: string }) => row.word === word)).toEqual([true, true, true])
  })
})

describe('a NOTIFY', () => {
  test('of another process reaches onNotify when it is committed, and connections that LISTEN', async () => {
    const heard: string[] = []
    const stop = db.onNotify((channel) => heard.push(channel))
    const listener = new pg.Client({ ...db.socket, user: 'postgres', database: 'postgres' })
    await listener.connect()
    await listener.query('listen postrider_wake')
    const delivered = new Promise<string | undefined>((resolve) => {
      listener.on('notification', ({ payload }) => resolve(payload))
    })

    const client = await pool.connect()
    await client.query('begin')
    await client.query('notify postrider_wake')
    await client.query('rollback')
    client.release()

    const woken = new Promise<string>((resolve) => db.onNotify(resolve))
    await startOther('query', directory.path, "notify postrider_wake, 'from afar'").hears('rows')
    expect(await woken).toBe('postrider_wake')
    expect(await delivered).toBe('from afar')
    expect(heard).toEqual(['postrider_wake'])
    stop()
    await listener.end()
  })

  test('still arrives after a client has stopped listening for itself', async () => {
    await pool.query('unlisten *')
    await pool.query('discard all')
    const woken = new Promise<string>((resolve) => db.onNotify(resolve))
    await pool.query('notify postrider_wake')
    expect(await woken).toBe('postrider_wake')
  })
})

function message(type: string, body: string): Buffer {
  const bytes = Buffer.from(body)
  const header = Buffer.from(`${type}\0\0\0\0`)
  header.writeInt32BE(4 + bytes.length, 1)
  return Buffer.concat([header, bytes])
}

/** Speaks the protocol byte by byte, as no decent client would. */
class RawClient {
  readonly closed: Promise<void>
  readonly #socket: Socket
  #input = Buffer.alloc(0)
  #arrived = () => {}

  constructor(database: EmbeddedDatabase) {
    this.#socket = connect(socketFile(database.socket))
    this.#socket.setNoDelay(true)
    this.#socket.on('error', () => {})
    this.closed = new Promise((resolve) => this.#socket.once('close', () => resolve()))
    this.#socket.on('data', (chunk) => {
      this.#input = Buffer.concat([this.#input, chunk])
      this.#arrived()
    })
  }

  static async open(database: EmbeddedDatabase): Promise<RawClient> {
    const client = new RawClient(database)
    const parameters = Buffer.from('user\0postgres\0\0')
    const startup = Buffer.alloc(8 + parameters.length)
    startup.writeInt32BE(startup.length, 0)
    startup.writeInt32BE(3 << 16, 4)
    parameters.copy(startup, 8)
    client.write(startup)
    await client.answer()
    return client
  }

  write(bytes: Buffer): void {
    this.#socket.write(bytes)
  }

  end(): void {
    this.#socket.end(message('X', ''))
  }

  /** Everything up to and including a message of this type. */
  async received(type: string): Promise<string> {
    for (;;) {
      for (let at = 0; at + 5 <= this.#input.length;) {
        const end = at + 1 + this.#input.readInt32BE(at + 1)
        if (end > this.#input.length) break
        if (this.#input[at] === type.charCodeAt(0)) {
          const text = this.#input.toString('latin1', 0, end)
          this.#input = this.#input.subarray(end)
          return text
        }
        at = end
      }
      await new Promise<void>((resolve) => (this.#arrived = resolve))
    }
  }

  answer(): Promise<string> {
    return this.received('Z')
  }
}
