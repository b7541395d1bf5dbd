import { accessSync, constants, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The full path of an installed program, looked for in the given directories first, then on the PATH. */
export function findBinary(name: string, directories: string[] = []): string | null {
  // The sbin directories hold servers but are missing from the PATH of an ordinary Debian user.
  const searched = [...directories, ...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  for (const directory of searched) {
    if (directory === '') continue
    const path = join(directory, name)
    if (isExecutable(path)) return path
  }
  return null
}

/** `<parent>/<version>/<rest>` for every version present, newest first: how Debian keeps several PostgreSQLs. */
export function findVersionedDirectories(parent: string, rest: string): { version: number; path: string }[] {
  return listDirectory(parent)
    .map((entry) => ({ version: Number.parseInt(entry, 10), path: join(parent, entry, rest) }))
    .filter(({ version }) => Number.isInteger(version))
    .toSorted((a, b) => b.version - a.version)
}

function listDirectory(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
