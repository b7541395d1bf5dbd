import { connect, type Database } from '../../src/db/client.js'
import { migrate } from '../../src/db/migrate.js'
import { DEFAULT_WORKSPACE } from '../../src/id.js'

/** A database with a given number of actions that are not due: one half long done, the other half far in the future. */
export interface ClaimGround {
  readonly size: number
  /** One connection, so that statements follow each other and the server's counters can be read in between. */
  readonly db: Database
  close(): Promise<void>
}

const LANES = 1_000
/** Small enough that a transaction's log stays moderate, large enough that its start does not matter. */
const CHUNK = 250_000

export const laneId = (number: number): string => `019a0000-0000-7000-8000-${String(number).padStart(12, '0')}`

// Ids sort by the time they were made, as the engine's do; the time is one millisecond per row, backwards from now.
const fill = `
  insert into postrider.scheduled_actions (
    id, workspace_id, lane_id, type, dedupe_key, state, run_at, wake_at, attempts, created_at, state_at)
  select
    (lpad(to_hex((extract(epoch from made_at) * 1000)::bigint), 12, '0') || '7'
      || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid,
    $1, ('019a0000-0000-7000-8000-' || lpad((n % ${LANES})::text, 12, '0'))::uuid, 'noop', 'filler:' || n,
    case when waits then 'pending' else 'done' end,
    case when waits then due_at else made_at end, case when waits then due_at end,
    case when waits then 0 else 1 end, made_at, made_at
  from (
    select n, n / ${LANES} % 2 = 0 as waits, now() - ($4 - n) * interval '1 millisecond' as made_at,
      now() + interval '1 day' + n * 7919 % 31536000 * interval '1 second' as due_at
    from generate_series($2::bigint, $3::bigint) n
  ) filler`

export async function prepareGround(databaseUrl: string, size: number, signal: AbortSignal): Promise<ClaimGround> {
  const db = connect({ connection: { connectionString: databaseUrl }, maxConnections: 1 })
  await migrate(db)
  // Vacuum comes when it likes, and its reads would be counted as the claim's.
  for (const table of ['scheduled_actions', 'ready_actions', 'leases'])
    await db.query(`alter table postrider.${table} set (autovacuum_enabled = false)`)
  for (let first = 0; first < size && !signal.aborted; first += CHUNK)
    await db.query(fill, [DEFAULT_WORKSPACE, first, Math.min(size, first + CHUNK) - 1, size])
  await db.query('vacuum analyze')
  return { size, db, close: () => db.close() }
}
