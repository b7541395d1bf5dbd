/**
 * The other process in the tests of the embedded database. Its arguments are `<role> <directory> [argument]`; it
 * speaks one line of JSON per event.
 */
import pg from 'pg'

import { DirectoryInUseError, findOwner } from '../../src/db/embedded/directory-lock.js'
import { openEmbedded } from '../../src/db/embedded/open-embedded.js'

const [role, directory, argument] = process.argv.slice(2) as [keyof typeof roles, string, string | undefined]
const say = (event: object) => process.stdout.write(`${JSON.stringify(event)}\n`)

async function attach(): Promise<pg.Client> {
  const owner = await findOwner(directory)
  if (!owner?.socket) throw new Error(`nobody to attach to: ${JSON.stringify(owner)}`)
  say({ owner })
  const client = new pg.Client({ ...owner.socket, user: 'postgres', database: 'postgres' })
  await client.connect()
  return client
}

const roles = {
  /** Owns the directory until killed. */
  async hold() {
    const db = await openEmbedded({ directory })
    say({ opened: db.socket })
  },

  /** Opens, closes, and must then end by itself. */
  async cycle() {
    const db = await openEmbedded({ directory })
    await db.close()
    say({ closed: true })
  },

  async open() {
    try {
      await openEmbedded({ directory })
      say({ opened: true })
    } catch (error) {
      if (!(error instanceof DirectoryInUseError)) throw error
      say({ refused: { pid: error.pid, socket: error.socket, message: error.message } })
    }
  },

  /** Commits until killed, four connections at a time, and says which commits were confirmed. */
  async commit() {
    const db = await openEmbedded({ directory })
    const pool = new pg.Pool({ ...db.socket, user: 'postgres', database: 'postgres', max: 4 })
    await pool.query('create table if not exists left_side (id text primary key, filler text)')
    await pool.query('create table if not exists right_side (id text primary key)')
    let next = 0
    const committer = async () => {
      for (;;) {
        const id = `${argument}-${next++}`
        const client = await pool.connect()
        await client.query('begin')
        await client.query('insert into left_side values ($1, $2)', [id, 'x'.repeat(next % 7 === 0 ? 9_000 : 100)])
        await client.query('insert into right_side values ($1)', [id])
        await client.query('commit')
        say({ committed: id })
        client.release()
        if (next % 100 === 0) await pool.query('checkpoint')
      }
    }
    await Promise.all([committer(), committer(), committer(), committer()])
  },

  async query() {
    const client = await attach()
    say({ rows: (await client.query(argument!)).rows })
    await client.end()
  },

  /** Sits in an open transaction until killed. */
  async transact() {
    const client = await attach()
    await client.query('begin')
    await client.query(argument!)
    say({ inTransaction: true })
  },
}

await roles[role]()
