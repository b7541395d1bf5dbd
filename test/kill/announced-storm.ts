import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { announcedRandom } from '../support/seeded-random.js'
import { type AimedStorm, runStorm, type StormOptions } from './storm.js'

/** What all storms of a test file share. */
export interface Storms {
  readonly built: BuiltPackage
  /** For notes. */
  readonly directory: string
  remove(): void
}

export async function prepareStorms(): Promise<Storms> {
  const built = await buildPackage()
  const directory = mkdtempSync(join(tmpdir(), 'postrider-kill-'))
  return {
    built,
    directory,
    remove() {
      built.remove()
      rmSync(directory, { recursive: true })
    },
  }
}

/** A storm whose seed is said before it and whose numbers are said after it. */
export async function announcedStorm(what: string, options: Omit<StormOptions, 'seed'>): Promise<AimedStorm> {
  const { seed } = announcedRandom(`kills ${what}`)
  const began = performance.now()
  const report = (line: string) => process.stdout.write(`kills ${what}: ${line}\n`)
  const storm = await runStorm({ ...options, seed, report })
  const seconds = Math.round((performance.now() - began) / 1_000)
  process.stdout.write(`kills ${what}: ${JSON.stringify({ seed, seconds, ...storm.counts })}\n`)
  return storm
}
