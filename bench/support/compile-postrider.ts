import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { RESULTS } from './results.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Compiles Postrider as it is published and returns the URL of its folder. The peers come compiled; straight from
 * TypeScript, every function that tsx makes at run time is named by a call of its own, which a hot path would pay for.
 * A folder of its own, since others may be building into `dist`, and beside what the package looks for there.
 */
export async function compilePostrider(): Promise<{ url: string; remove(): void }> {
  const home = `${RESULTS}build-${process.pid}/`
  mkdirSync(home, { recursive: true })
  for (const name of ['migrations', 'package.json']) symlinkSync(`${ROOT}${name}`, `${home}${name}`)
  const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'))
  try {
    await promisify(execFile)(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', `${home}dist`], {
      cwd: ROOT,
    })
  } catch (error) {
    // The compiler writes its output in spite of errors in types, which are somebody else's business to report.
    if (!existsSync(`${home}dist/index.js`)) throw error
    console.error(`Postrider has type errors; measuring it nevertheless.\n${(error as { stdout?: string }).stdout}`)
  }
  return { url: pathToFileURL(`${home}dist/`).href, remove: () => rmSync(home, { recursive: true, force: true }) }
}
