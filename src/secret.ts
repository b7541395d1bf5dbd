import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PostriderError } from './errors.js'

/**
 * POSTRIDER_SECRET, or, with the embedded database, the one made in its directory the first time. A server's database is
 * used from many machines, which must all have the same secret, so there none is made.
 */
export function findSecret(given: string | null, dataDirectory: string | null): string {
  if (given !== null) return given
  if (dataDirectory === null)
    throw new PostriderError(
      'setting_invalid',
      'POSTRIDER_SECRET is needed with DATABASE_URL: set the same long random text for every process, such as the output of "openssl rand -base64 32".',
    )
  const file = join(dataDirectory, 'secret')
  try {
    mkdirSync(dataDirectory, { recursive: true })
    // Of two processes that start at once, one writes and both read the same.
    writeFileSync(file, `${randomBytes(32).toString('base64')}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // Also what mkdir says of a file that is in its place: reading says which of the two it was.
    if (code !== 'EEXIST') throw unusable(dataDirectory, message, error)
  }
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw unusable(dataDirectory, (error as Error).message, error)
  }
}

const unusable = (directory: string, why: string, cause: unknown) =>
  new PostriderError(
    'setting_invalid',
    `POSTRIDER_DATA is ${directory}, which cannot be used: ${why}. It must be a directory that belongs to the user this runs as.`,
    { cause },
  )
