import { inject } from 'vitest'
import { type ClonedDatabase, cloneDatabase } from './postgres-template.js'

let clone: Promise<ClonedDatabase> | null = null

/**
 * The URL of this test file's own migrated database, made when first asked for and the same for the whole file. The
 * leak check drops it after the file's last hook, once nobody is connected to it any more.
 */
export async function fileDatabase(): Promise<string> {
  clone ??= cloneDatabase(inject('template'))
  return (await clone).url
}

/** What there is of it. The next file of this process makes one of its own. */
export async function forgetFileDatabase(): Promise<ClonedDatabase | null> {
  const made = clone
  clone = null
  return made
}
