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

export async function findFileDatabase(): Promise<ClonedDatabase | null> {
  return clone
}
