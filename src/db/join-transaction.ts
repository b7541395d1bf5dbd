import type { SQL } from 'drizzle-orm'
import { PostriderError } from '../errors.js'
import { type Sql, toAnswer } from './client.js'

/** What both `pg.Client` and `pg.PoolClient` are, as far as a transaction of the caller's needs them. */
export interface QueryRunner {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[]; rowCount: number | null }>
}

/** A transaction of Drizzle, whatever driver is under it. */
export interface DrizzleTransaction {
  execute(query: SQL): PromiseLike<unknown>
}

/** Lets our statements run inside a transaction the caller opened: on its own `pg` client, or through Drizzle. */
export function joinTransaction(tx: QueryRunner | DrizzleTransaction, now = 'now()'): Sql {
  // Drizzle's transaction has a `query` as well, but it is not a function.
  const isClient = typeof (tx as QueryRunner).query === 'function'
  if (!isClient && typeof (tx as DrizzleTransaction).execute !== 'function') throw noTransaction('is neither')
  // Each runs a statement wherever there is room, and what it wrote stays when the caller's own transaction is undone.
  if ('totalCount' in tx && 'idleCount' in tx) throw noTransaction('is a pool')
  if ('$client' in tx) throw noTransaction('is a whole database of Drizzle')
  return {
    now,
    query: (text, values) =>
      isClient ? runOnClient(tx as QueryRunner, text, values) : runInDrizzle(tx as DrizzleTransaction, text, values),
  }
}

const noTransaction = (what: string) =>
  new PostriderError(
    'transaction_invalid',
    `tx must be a pg client on which BEGIN was run, or the transaction Drizzle hands to its callback; this ${what}.`,
  )

async function runInDrizzle<Row>(tx: DrizzleTransaction, text: string, values: readonly unknown[] = []) {
  // Loaded by who has it in use already: for everybody else it is a fifth of what there is to load at the start.
  const { sql } = await import('drizzle-orm')
  const parts = text.split(/\$(\d+)/)
  const answer = await tx.execute(
    sql.join(parts.map((part, i) => (i % 2 === 0 ? sql.raw(part) : sql.param(values[Number(part) - 1])))),
  )
  // pg and PGlite answer with an object, postgres.js with a list that has a count.
  const { rows = answer, rowCount, count } = answer as { rows?: unknown; rowCount?: number; count?: number }
  return { rows: rows as Row[], rowCount: rowCount ?? count ?? (rows as Row[]).length }
}

async function runOnClient<Row>(client: QueryRunner, text: string, values: readonly unknown[] = []) {
  return toAnswer<Row>(await client.query(text, values as unknown[]))
}
