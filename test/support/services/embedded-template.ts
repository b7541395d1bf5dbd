import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../../src/db/client.js'
import { openEmbedded } from '../../../src/db/embedded/open-embedded.js'
import { migrate } from '../../../src/db/migrate.js'

export interface EmbeddedTemplate {
  readonly directory: string
  remove(): void
}

const prefix = join(tmpdir(), 'postrider-embedded-')

/** A migrated data directory to copy: the first start of an embedded database takes seconds, a copy a fraction of one. */
export async function createEmbeddedTemplate(): Promise<EmbeddedTemplate> {
  const home = mkdtempSync(prefix)
  const directory = join(home, 'template')
  const remove = () => rmSync(home, { recursive: true, force: true })
  try {
    const embedded = await openEmbedded({ directory })
    const connection = { ...embedded.socket, user: 'postgres', database: 'postgres' }
    const db = connect({ connection, maxConnections: 1, embedded: true })
    await migrate(db)
    await db.close()
    await embedded.close()
  } catch (error) {
    remove()
    throw error
  }
  return { directory, remove }
}

export function copyEmbeddedTemplate(template: string, directory = mkdtempSync(prefix)): EmbeddedTemplate {
  cpSync(template, directory, { recursive: true })
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}
