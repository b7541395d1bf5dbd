import { readFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { withAdminConnection } from '../../test/support/services/admin-connection.js'

/** Where figures come from; without it nobody can compare them with others. */
export interface Machine {
  readonly cpus: number
  readonly cpu: string
  readonly memoryGb: number
  readonly system: string
  readonly node: string
  /** Before we began: more than a fraction of the processors means that somebody else was at work. */
  readonly load: readonly number[]
}

export const describeMachine = (): Machine => ({
  cpus: cpus().length,
  cpu: cpus()[0]?.model ?? 'unknown',
  memoryGb: Math.round(totalmem() / 2 ** 30),
  system: `${process.platform} ${release()} ${process.arch}`,
  node: process.version,
  load: loadavg().map((load) => Number(load.toFixed(2))),
})

const SETTINGS = [
  'server_version',
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'wal_sync_method',
  'shared_buffers',
  'max_wal_size',
  'jit',
]

export type PostgresSettings = Readonly<Record<string, string>>

export const readPostgresSettings = (adminUrl: string): Promise<PostgresSettings> =>
  withAdminConnection(adminUrl, async (client) => {
    const { rows } = await client.query<{ name: string; value: string }>(
      'select name, current_setting(name) as value from unnest($1::text[]) name',
      [SETTINGS],
    )
    return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
  })

/** Seconds that all processors of the machine have been busy, whoever kept them so. */
export function readBusySeconds(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0) / 1_000
}

const STEAL = 8
/** As Linux shows them to programs, on every architecture. */
const TICKS_PER_SECOND = 100

/** Milliseconds that others on the same host had instead of this machine, all processors together; null if nobody says. */
export function readStolenMs(): number | null {
  if (process.platform !== 'linux') return null
  const ticks = Number(readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!.split(/\s+/)[STEAL])
  return Number.isFinite(ticks) ? (ticks * 1_000) / TICKS_PER_SECOND : null
}
