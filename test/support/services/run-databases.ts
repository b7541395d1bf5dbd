import { createHash, randomBytes } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { withAdminConnection } from './admin-connection.js'

/**
 * Every database of a run is named `postrider_test_<machine>_<pid>_<random>_…`, so that a later run can tell whose it was
 * and whether that run is still alive. The machine is part of it because a pid means nothing elsewhere: two containers
 * may share one server, each with a process 42.
 */
const prefix = 'postrider_test'

/** Host name and pid namespace, hashed: containers can share the former, restarts change the latter. */
const machine = createHash('sha256').update(`${hostname()} ${pidNamespace()}`).digest('hex').slice(0, 8)

export function newRunId(): string {
  return `${machine}_${process.pid}_${randomBytes(3).toString('hex')}`
}

export function runDatabaseName(runId: string, suffix: string): string {
  return `${prefix}_${runId}_${suffix}`
}

export async function dropRunDatabases(adminUrl: string, runId: string): Promise<void> {
  await dropDatabases(adminUrl, (name) => name.startsWith(runDatabaseName(runId, '')))
}

/** Drops what runs left behind that were killed before they could: those of this machine whose process is gone. */
export async function dropAbandonedDatabases(adminUrl: string): Promise<string[]> {
  return dropDatabases(adminUrl, (name) => {
    const [, owner, pid] = /^postrider_test_([0-9a-f]{8})_(\d+)_/.exec(name) ?? []
    return owner === machine && pid !== undefined && !isAlive(Number(pid))
  })
}

async function dropDatabases(adminUrl: string, isDoomed: (name: string) => boolean): Promise<string[]> {
  return withAdminConnection(adminUrl, async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      `select datname from pg_database where starts_with(datname, $1) order by datname`,
      [`${prefix}_`],
    )
    const doomed = rows.map(({ datname }) => datname).filter(isDoomed)
    for (const name of doomed) await client.query(`drop database if exists "${name}" with (force)`)
    return doomed
  })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}
