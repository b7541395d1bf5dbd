import pg from 'pg'
import { PostriderError } from '../errors.js'

/** Something that runs SQL: the pool, a transaction, or a caller's own client wrapped by join-transaction. */
export interface Sql {
  query<Row = unknown>(
    text: string,
    values?: readonly unknown[],
    options?: QueryOptions,
  ): Promise<{ rows: Row[]; rowCount: number }>
  /**
   * The SQL expression for "now". The database's clock is the only one that decides anything; a test that needs
   * another time replaces this expression, and nothing else.
   */
  readonly now: string
}

export interface QueryOptions {
  /**
   * For statements that run all the time: the server parses and plans them once per connection, under this name; of a
   * claim, planning is four fifths. The text must always be the same for one name.
   */
  readonly name?: string
}

export interface Database extends Sql {
  /**
   * Runs `work` in one transaction; a throw rolls it back. Never await the network in there, only this database: it may
   * be rolled back and run once more.
   */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>
  /** Calls `onNotify` for every notification until the returned function is called. Comes back by itself after a loss. */
  listen(channel: string, onNotify: () => void, onError?: (error: unknown) => void): Promise<() => Promise<void>>
  /** True for the embedded database: one session serves all connections. */
  readonly embedded: boolean
  close(): Promise<void>
}

export interface ConnectOptions {
  readonly connection: pg.PoolConfig
  readonly maxConnections: number
  readonly embedded?: boolean
  readonly now?: string
  readonly onError?: (error: unknown) => void
  /** How notifications arrive when the server cannot deliver them to a listening connection (embedded). */
  readonly onNotify?: (listener: (channel: string) => void) => () => void
}

/**
 * Put into a statement whose loss in a crash of the database server would change nothing, so that its commit need not
 * wait for the disk: claiming, renewing, promoting. The statement must read it. What such a statement wrote is on disk
 * at the latest with the next commit that does wait, and arming and settling always do.
 */
export const RELAXED_COMMIT = `relaxed as materialized (select set_config('synchronous_commit', 'off', true) as setting)`

const LISTEN_RETRY_MS = 1_000
const CONNECT_TIMEOUT_MS = 10_000
const STATEMENT_TIMEOUT_MS = 60_000
const IDLE_TRANSACTION_MS = 60_000

export function connect(options: ConnectOptions): Database {
  const pool = new pg.Pool({
    application_name: 'postrider',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: 30_000,
    ...options.connection,
    max: options.maxConnections,
    ...(!options.embedded && { onConnect: withoutCompiling }),
  })
  // A pooled connection that dies while idle raises here; without a listener it would end the process.
  pool.on('error', (error) => options.onError?.(error))
  // So would one that dies in the moment between being handed out and being listened to by whoever asked for it. It is
  // marked as unusable by then, so nothing is lost by not looking.
  pool.on('connect', (client) => client.on('error', () => undefined))
  const now = options.now ?? 'now()'
  const names = createNames(pool, options.embedded ?? false)

  return {
    now,
    embedded: options.embedded ?? false,
    query: createQuery(pool, names),
    transaction: (work) => inTransaction(pool, now, names, work),
    listen: options.onNotify
      ? (channel, onNotify) => {
          const stop = options.onNotify!((heard) => heard === channel && onNotify())
          return Promise.resolve(() => Promise.resolve(stop()))
        }
      : (channel, onNotify, onError) => listenOn(options.connection, channel, onNotify, onError),
    close: () => pool.end(),
  }
}

/**
 * Compiling a statement that counts takes a server ten times as long as running it would. Said as a statement: a pooler in
 * between may refuse to be told earlier.
 */
async function withoutCompiling(client: pg.ClientBase): Promise<void> {
  const setting = { text: 'set jit = off', query_timeout: CONNECT_TIMEOUT_MS }
  await client.query(setting)
}

/** Whether statements are sent under their names. */
interface Names {
  readonly used: boolean
  /** Looks whether they should be, now and then. */
  look(): Promise<void>
  /** Somebody mixes them up: never again. */
  giveUp(): void
}

const LARGE_BYTES = 8 * 2 ** 20
const LOOK_EVERY_MS = 2_000

/**
 * A plan that is kept is made for the tables as they are when it is made. For those of a new installation that is reading
 * them whole, and until the server's statistics notice, a minute later, every claim of the first campaign would. So names
 * are used from the moment on at which the actions fill some thousand pages, as the server counts them when it plans.
 *
 * Names are for servers: the embedded database has one session for all connections, which would share them.
 */
function createNames(pool: pg.Pool, embedded: boolean): Names {
  let used = false
  let allowed = !embedded
  let lookAt = 0
  return {
    get used() {
      return used
    },
    async look() {
      if (used || !allowed || performance.now() < lookAt) return
      lookAt = performance.now() + LOOK_EVERY_MS
      const text = `select pg_relation_size(to_regclass('postrider.scheduled_actions')) >= $1 as large`
      const size = { text, values: [LARGE_BYTES], query_timeout: STATEMENT_TIMEOUT_MS }
      const { rows } = await pool.query<{ large: boolean | null }>(size)
      used = allowed && rows[0]!.large === true
    },
    giveUp() {
      allowed = false
      used = false
    },
  }
}

/** A named statement is not on this connection, or is there already: somebody between us and the server mixes them up. */
const MIXED_UP = new Set(['26000', '42P05'])
const isMixedUp = (error: unknown) => MIXED_UP.has((error as { code?: string }).code ?? '')

/**
 * A statement of our own takes milliseconds. One that takes a minute is on a connection whose other end has vanished
 * without a word; waiting for the operating system to notice would take a quarter of an hour. The pool then discards
 * the connection. A statement that was executed after all is harmless: what nobody was told of, nobody acts upon.
 *
 * Behind a pooler that hands out another server connection for every transaction names go wrong. It says so before
 * anything is executed; the statement is then sent again without, and so are all that follow. A transaction has failed by
 * then and is run again.
 */
function createQuery(pool: pg.Pool, names: Names): Sql['query'] {
  return async <Row>(text: string, values: readonly unknown[] = [], { name }: QueryOptions = {}) => {
    const config = { text, values: values as unknown[], query_timeout: STATEMENT_TIMEOUT_MS }
    if (name !== undefined) await names.look()
    if (name === undefined || !names.used) return toAnswer<Row>(await pool.query(config))
    try {
      return toAnswer<Row>(await pool.query({ ...config, name }))
    } catch (error) {
      if (!isMixedUp(error)) throw error
      names.giveUp()
      return toAnswer<Row>(await pool.query(config))
    }
  }
}

/** `pg` says null of statements that count nothing. */
export const toAnswer = <Row>({ rows, rowCount }: { rows: unknown[]; rowCount: number | null }) => ({
  rows: rows as Row[],
  rowCount: rowCount ?? 0,
})

async function inTransaction<T>(pool: pg.Pool, now: string, names: Names, work: (tx: Sql) => Promise<T>): Promise<T> {
  const named = names.used
  try {
    return await runTransaction(pool, now, named, work)
  } catch (error) {
    if (!named || !isMixedUp(error)) throw error
    names.giveUp()
    return runTransaction(pool, now, false, work)
  }
}

async function runTransaction<T>(
  pool: pg.Pool,
  now: string,
  named: boolean,
  work: (tx: Sql) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  // A client whose transaction could not be ended cleanly must not serve anybody else.
  let broken: Error | undefined
  const onError = (error: Error) => (broken = error)
  client.on('error', onError)
  try {
    // Spelled out, because an application may have changed its database's default, and our statements rely on
    // seeing what others committed meanwhile.
    // The limit ends a transaction whose process has vanished without a word, and with it the locks it holds.
    await client.query(
      `begin isolation level read committed; set local idle_in_transaction_session_timeout = ${IDLE_TRANSACTION_MS}`,
    )
    const result = await work({
      now,
      query: async <Row>(text: string, values: readonly unknown[] = [], { name }: QueryOptions = {}) =>
        named && name !== undefined
          ? toAnswer<Row>(await client.query({ text, values: values as unknown[], name }))
          : toAnswer<Row>(await client.query(text, values as unknown[])),
    })
    const { command } = await client.query('commit')
    // PostgreSQL answers a commit with ROLLBACK, and no error, when a statement failed and `work` swallowed that.
    if (command !== 'COMMIT') throw new Error('The transaction was rolled back: a statement in it had failed.')
    return result
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => (broken = failure))
    throw error
  } finally {
    client.off('error', onError)
    client.release(broken)
  }
}

async function listenOn(
  connection: pg.PoolConfig,
  channel: string,
  onNotify: () => void,
  onError: ((error: unknown) => void) | undefined,
): Promise<() => Promise<void>> {
  let stopped = false
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined

  const open = async () => {
    const next = new pg.Client({
      application_name: 'postrider listen',
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      ...connection,
    })
    client = next
    const again = (error?: Error) => {
      if (client !== next) return
      client = undefined
      if (stopped) return
      if (error) onError?.(error)
      timer = setTimeout(() => void open(), LISTEN_RETRY_MS)
    }
    next.on('error', again)
    next.on('end', () => again())
    next.on('notification', () => onNotify())
    try {
      await next.connect()
      await next.query(`listen ${channel}`)
      // Whatever was announced while nobody listened is found by looking once.
      onNotify()
    } catch (error) {
      await next.end().catch(() => undefined)
      again(error as Error)
    }
  }

  await open()
  return async () => {
    stopped = true
    clearTimeout(timer)
    await client?.end().catch(() => undefined)
  }
}

const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

/**
 * True when an error says "the database is away or busy", not "the statement is wrong": connection failures (class 08,
 * 57P0x, sockets), exhausted connections (53xxx), serialization and deadlock (40xxx). Trying again later is right.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as { code?: unknown }
  if (error instanceof PostriderError) return code === 'database_unavailable'
  if (typeof code === 'string') return CONNECTION_CODES.has(code) || /^(08|53|40|57P0)/.test(code)
  return /connection terminated|timeout exceeded when trying to connect|query read timeout|connection error|not queryable|closed/i.test(
    error.message,
  )
}

/** What to do when the role we log in as may not do what it has to; null when that is not what is wrong. */
export function explainForbidden(error: unknown): string | null {
  if (!(error instanceof Error) || (error as { code?: unknown }).code !== INSUFFICIENT_PRIVILEGE) return null
  return `The role in DATABASE_URL lacks rights in the database (${error.message}). Use the role that owns the schema postrider, or grant this one all on the schema and its tables; to make the schema, a role needs CREATE on the database.`
}

const INSUFFICIENT_PRIVILEGE = '42501'
