import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findBinary, findVersionedDirectories } from './find-binary.js'
import { findFreePort } from './free-port.js'
import { killWithChildren } from './kill-with-children.js'
import { answersPostgres, oldestPostgres } from './postgres-probe.js'
import { type RequiredProgram, requireProgram } from './required-program.js'
import { createServerDirectory } from './server-directory.js'
import { launchServer, type ServerProcess } from './server-process.js'
import { findUnprivilegedUser } from './unprivileged-user.js'

/** `fast` rolls back what is open and writes a checkpoint; `immediate` just drops everything, as a crash would. */
export type PostgresStopMode = 'immediate' | 'fast'

const stopSignals = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const

export interface PrivatePostgres {
  /** The database `postgres` as superuser; stays the same over restarts. */
  url: string
  directory: string
  pid(): number
  start(): Promise<void>
  stop(mode: PostgresStopMode): Promise<void>
  restart(mode: PostgresStopMode): Promise<void>
  /** SIGKILL to the postmaster and all its children at once: the closest to pulling the plug. */
  kill(): Promise<void>
  dispose(): Promise<void>
}

const program: RequiredProgram<{ initdb: string; postgres: string }> = {
  name: `PostgreSQL ${oldestPostgres} or newer`,
  find: findPostgresBinaries,
  debianPackage: 'postgresql',
  variable: 'TEST_DATABASE_URL',
}

function findPostgresBinaries(): { initdb: string; postgres: string } | null {
  const directories = findVersionedDirectories('/usr/lib/postgresql', 'bin')
    .filter(({ version }) => version >= oldestPostgres)
    .map(({ path }) => path)
  const initdb = findBinary('initdb', directories)
  const postgres = findBinary('postgres', directories)
  return initdb && postgres ? { initdb, postgres } : null
}

export async function startPrivatePostgres(settings: Record<string, string> = {}): Promise<PrivatePostgres> {
  const binaries = await requireProgram(program)
  const user = findUnprivilegedUser('postgres')
  const directory = createServerDirectory('postgres', user)
  const data = join(directory.path, 'data')
  try {
    await promisify(execFile)(
      binaries.initdb,
      // Without its final sync, initdb is several times faster; what it wrote need not survive a power cut.
      ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync'],
      { cwd: directory.path, ...user },
    )
  } catch (error) {
    await directory.remove()
    throw error
  }
  const port = await findFreePort()
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`
  const effectiveSettings: Record<string, string> = {
    fsync: 'on',
    max_connections: '200',
    listen_addresses: '127.0.0.1',
    unix_socket_directories: directory.path,
    ...settings,
  }
  const args = ['-D', data, '-p', String(port)]
  for (const [name, value] of Object.entries(effectiveSettings)) args.push('-c', `${name}=${value}`)

  let server: ServerProcess | null = null
  const postgres: PrivatePostgres = {
    url,
    directory: directory.path,
    pid() {
      if (!server?.isRunning()) throw new Error('The private PostgreSQL is not running.')
      return server.pid
    },
    async start() {
      if (server?.isRunning()) throw new Error('The private PostgreSQL is already running.')
      server = launchServer({ file: binaries.postgres, args, user }, directory)
      directory.guard([server.pid])
      await server.ready(() => answersPostgres(url))
    },
    async stop(mode) {
      server?.signal(stopSignals[mode])
      await server?.exited
      directory.guard([])
    },
    async restart(mode) {
      await postgres.stop(mode)
      await postgres.start()
    },
    async kill() {
      if (!server?.isRunning()) return
      await killWithChildren(server)
      directory.guard([])
    },
    async dispose() {
      await postgres.stop('immediate')
      await directory.remove()
    },
  }
  try {
    await postgres.start()
  } catch (error) {
    await postgres.dispose()
    throw error
  }
  return postgres
}
