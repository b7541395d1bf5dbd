/**
 * What PostgreSQL does in background processes and PGlite, having none, does never: checkpoints, without which the WAL
 * grows for ever and recovery takes as long as everything since the last start; VACUUM, without which a queue table
 * only grows and transaction numbers run out; ANALYZE, without which plans are made for empty tables.
 *
 * While a step runs everybody waits. So it is one small step at a time, in a quiet moment if there is one soon, and
 * always on a turn of its own, never inside somebody's transaction.
 */
import { once, type SessionTurns } from './session-turns.js'
import type { Backend } from './start-backend.js'

const TICK_MS = 10_000
/** How many busy ticks in a row a step may be put off. */
const PATIENCE = 3
const CHECKPOINT_WAL_BYTES = 64 * 1024 * 1024
const CHECKPOINT_EVERY_MS = 5 * 60_000

/**
 * Earlier than autovacuum's 20 %: in a queue most rows die young. Freezing long before the 2,000,000,000 transactions
 * at which PostgreSQL would stop, so that even a table nobody changes is done in time.
 */
const DUE_TABLES = `
  SELECT format('%I.%I', n.nspname, c.relname),
         s.n_dead_tup > 1000 + 0.1 * s.n_live_tup OR age(c.relfrozenxid) > 150000000
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_stat_all_tables s ON s.relid = c.oid
   WHERE c.relkind IN ('r', 'm') AND c.relpersistence = 'p'
     AND (s.n_dead_tup > 1000 + 0.1 * s.n_live_tup
          OR s.n_mod_since_analyze > 500 + 0.1 * s.n_live_tup
          OR age(c.relfrozenxid) > 150000000)
   ORDER BY age(c.relfrozenxid) > 150000000 DESC, s.n_dead_tup DESC
   LIMIT 1`

export class Maintenance {
  readonly #backend: Backend
  readonly #turns: SessionTurns
  readonly #log: (message: string, detail?: object) => void
  #timer: NodeJS.Timeout | null = null
  #postponed = 0
  #walAtCheckpoint: number
  #checkpointAt = performance.now()

  constructor(backend: Backend, turns: SessionTurns, log: (message: string, detail?: object) => void) {
    this.#backend = backend
    this.#turns = turns
    this.#log = log
    this.#walAtCheckpoint = this.#walBytes()
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer)
  }

  #tick(): void {
    if (this.#turns.busy && this.#postponed < PATIENCE) {
      this.#postponed++
      return
    }
    this.#postponed = 0
    this.#turns.request(once(() => this.runStep()))
  }

  /** The one most urgent thing, if anything is due. Must be called on a turn. */
  runStep(): void {
    const startedAt = performance.now()
    try {
      const step = this.#checkpointIfDue() ?? this.#vacuumIfDue()
      const durationMs = Math.round(performance.now() - startedAt)
      if (step) this.#log('embedded database maintenance', { step, durationMs })
    } catch (error) {
      this.#log('embedded database maintenance failed', { error: String(error) })
    }
  }

  #checkpointIfDue(): string | null {
    const written = this.#walBytes() - this.#walAtCheckpoint
    const overdue = performance.now() - this.#checkpointAt > CHECKPOINT_EVERY_MS
    if (written === 0 || (written < CHECKPOINT_WAL_BYTES && !overdue)) return null
    this.#backend.query('CHECKPOINT')
    this.#checkpointAt = performance.now()
    this.#walAtCheckpoint = this.#walBytes()
    return 'CHECKPOINT'
  }

  #vacuumIfDue(): string | null {
    const due = this.#backend.query(DUE_TABLES)[0]
    if (!due) return null
    const [table, vacuum] = due
    const statement = `${vacuum === 't' ? 'VACUUM (ANALYZE)' : 'ANALYZE'} ${table}`
    this.#backend.query(statement)
    return statement
  }

  #walBytes(): number {
    return Number(this.#backend.query("SELECT pg_current_wal_insert_lsn() - '0/0'")[0]?.[0])
  }
}
