/**
 * One process owns a data directory at a time, and the kernel keeps the record.
 *
 * PGlite itself has no lock: two openers silently lose each other's committed rows. A pid file can be stale, a lease
 * with a timer can be stolen from a process that was merely paused. flock(2) can be neither: it belongs to the open
 * file description, so it is gone the moment the owner closes the file or dies, however it dies, and not before.
 *
 * Node has no flock call, so the `flock` command takes the lock on a descriptor we lend it: the description is shared,
 * and after the command has exited we are the only one left holding it. macOS can lock while opening instead.
 *
 * The file is never deleted: an opener holding the old inode and one holding a new inode would both own the directory.
 * Its content (pid and socket) only serves whoever is refused.
 */
import { spawnSync } from 'node:child_process'
import { closeSync, constants, existsSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import type { SocketAddress } from './socket-path.js'

export interface DirectoryOwner {
  /** null when the owner holds the lock but never wrote who it is. */
  readonly pid: number | null
  /** null while the owner is still starting. */
  readonly socket: SocketAddress | null
}

export interface DirectoryLock {
  /** Tells others where to reach the database. */
  announce(socket: SocketAddress): void
  release(): void
}

export class DirectoryInUseError extends Error {
  override readonly name = 'DirectoryInUseError'
  readonly pid: number | null
  readonly socket: SocketAddress | null

  constructor(directory: string, owner: DirectoryOwner) {
    const who =
      owner.pid === process.pid
        ? 'this very process, or one with its number in another container'
        : `process ${owner.pid ?? '(unknown)'}`
    super(
      `The embedded database in ${directory} is in use by ${who}. ` +
        'Stop that process first, choose another directory, or set DATABASE_URL to share a PostgreSQL server.',
    )
    this.pid = owner.pid
    this.socket = owner.socket
  }
}

/**
 * How long a refused opener waits for the owner to have written its name, and for a `findOwner` that holds the lock
 * for the few milliseconds of its look. Too short would refuse without a pid, or refuse a free directory.
 */
const SETTLE_MS = 2_000
const SETTLE_STEP_MS = 25

/** `directory` must exist. */
export async function acquireDirectoryLock(directory: string): Promise<DirectoryLock> {
  const path = lockFile(directory)
  const deadline = performance.now() + SETTLE_MS
  for (;;) {
    const fd = tryLock(path, 'exclusive')
    if (fd !== null) {
      write(fd, { pid: process.pid, socket: null })
      return {
        announce: (socket) => write(fd, { pid: process.pid, socket }),
        release: () => {
          ftruncateSync(fd, 0)
          closeSync(fd)
        },
      }
    }
    const owner = readOwner(path)
    if (isAlive(owner) || performance.now() > deadline) {
      throw new DirectoryInUseError(directory, owner ?? { pid: null, socket: null })
    }
    await delay(SETTLE_STEP_MS)
  }
}

/** Who owns the directory right now, so that a command can attach to the running server; null when nobody does. */
export async function findOwner(directory: string): Promise<DirectoryOwner | null> {
  const path = lockFile(directory)
  const deadline = performance.now() + SETTLE_MS
  for (;;) {
    if (!existsSync(path)) return null
    // Shared, so that two commands looking at the same time do not take each other for the owner.
    const fd = tryLock(path, 'shared')
    if (fd !== null) {
      closeSync(fd)
      return null
    }
    const owner = readOwner(path)
    if (isAlive(owner)) return owner
    if (performance.now() > deadline) return owner ?? { pid: null, socket: null }
    await delay(SETTLE_STEP_MS)
  }
}

function lockFile(directory: string): string {
  return join(directory, 'lock')
}

/** Returns the descriptor that holds the lock, or null when somebody else does. Never waits. */
function tryLock(path: string, mode: 'exclusive' | 'shared'): number | null {
  const openFlags = constants.O_RDWR | constants.O_CREAT
  if (process.platform === 'darwin') {
    const [O_SHLOCK, O_EXLOCK, O_NONBLOCK] = [0x10, 0x20, 0x4]
    try {
      return openSync(path, openFlags | O_NONBLOCK | (mode === 'exclusive' ? O_EXLOCK : O_SHLOCK), 0o600)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EAGAIN' || code === 'EWOULDBLOCK') return null
      throw error
    }
  }

  const fd = openSync(path, openFlags, 0o600)
  const flock = spawnSync('flock', [mode === 'exclusive' ? '-x' : '-s', '-n', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', fd],
  })
  if (flock.status === 0) return fd
  closeSync(fd)
  if (flock.status === 1) return null
  throw new Error(
    'The embedded database needs the `flock` command to make sure that only one process uses its directory, and ' +
      `${flock.error ? `it could not be run (${flock.error.message})` : `it failed with status ${flock.status}`}. ` +
      'Install util-linux, or set DATABASE_URL to use a PostgreSQL server.',
    { cause: flock.error },
  )
}

function write(fd: number, owner: DirectoryOwner): void {
  ftruncateSync(fd, 0)
  writeSync(fd, JSON.stringify(owner), 0)
}

/** null when nobody has written yet, or is just writing. */
function readOwner(path: string): DirectoryOwner | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as DirectoryOwner
  } catch {
    return null
  }
}

/**
 * Only decides whether the name in the file is worth waiting to see replaced: right after a crash it is still that of
 * the dead owner. It never decides who owns the directory.
 */
function isAlive(owner: DirectoryOwner | null): boolean {
  if (owner?.pid == null) return false
  try {
    process.kill(owner.pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
