import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findOwner } from '../db/embedded/directory-lock.js'

/** Where a demo keeps everything it has: a directory of its own that is gone after it. */
const PREFIX = 'postrider-demo-'
/** Another demo makes its directory a moment before it owns the database in it. */
const YOUNG_MS = 120_000

export interface Home {
  readonly directory: string
  remove(): void
}

export function makeHome(): Home {
  const directory = mkdtempSync(join(tmpdir(), PREFIX))
  return { directory, remove: () => remove(directory) }
}

/**
 * Removes what demos that were killed left behind; returns how many. Whether one lives is asked of the kernel's lock on
 * its database, so a demo that runs beside this one loses nothing.
 */
export async function removeAbandoned(): Promise<number> {
  let removed = 0
  for (const name of readdirSync(tmpdir())) {
    const directory = join(tmpdir(), name)
    if (!name.startsWith(PREFIX) || !isOurs(directory) || (await findOwner(directory))) continue
    remove(directory)
    removed++
  }
  return removed
}

/** Only directories of this user, and no links: in a shared /tmp anybody can make what has our name. */
function isOurs(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory() || found.uid !== process.getuid?.()) return false
  return Date.now() - found.mtimeMs > YOUNG_MS || readdirSync(path).includes('lock')
}

const remove = (directory: string) => rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
