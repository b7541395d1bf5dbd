import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const RESULTS = fileURLToPath(new URL('../results/', import.meta.url))

/** Writes everything that was seen, for whoever wants more than the table. Returns the file. */
export function writeResults(name: string, results: object): string {
  mkdirSync(RESULTS, { recursive: true })
  const file = `${RESULTS}${name}-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.json`
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
  return file
}
