import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { type EmbeddedDatabase, openEmbedded } from '../../../src/db/embedded/open-embedded.js'
import { copyEmbeddedTemplate } from './embedded-template.js'

/** A process that runs many files has one embedded database for them, in turn: starting one costs more than most need it. */
export interface KeptEmbedded {
  readonly directory: string
  readonly embedded: EmbeddedDatabase
}

let kept: KeptEmbedded | undefined
let taken = false

/** Called before anybody watches for leaks: it lives as long as the process. */
export async function keepEmbedded(template: string): Promise<void> {
  if (kept) return
  // Inside the template's home, which is removed with all that is in it after the last file.
  const { directory } = copyEmbeddedTemplate(template, mkdtempSync(join(template, '..', 'kept-')))
  kept = { directory, embedded: await openEmbedded({ directory }) }
}

/** Null where there is none, or somebody has it. */
export function takeKeptEmbedded(): (KeptEmbedded & { giveBack(): void }) | null {
  if (!kept || taken) return null
  taken = true
  return { ...kept, giveBack: () => (taken = false) }
}
