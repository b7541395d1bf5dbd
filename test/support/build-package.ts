import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { until } from './until.js'

/** The package, compiled into a directory of its own. */
export interface BuiltPackage {
  readonly directory: string
  /** The command line's entry file as it is shipped: what a test starts is what a user starts. */
  readonly cli: string
  /** The file to start for one of PROGRAMS. */
  program(name: Program): string
  remove(): void
}

/**
 * What tests start again and again. Bundled with all they load, because half of the processor time of a process that is
 * killed a moment later went into finding six hundred files.
 */
const PROGRAMS = [
  'src/cli/main.ts',
  'test/cli/host-program.ts',
  'test/kill/mail-program.ts',
  'test/promises/embedded-child.ts',
  'test/sequences/launch-program.ts',
  'test/support/worker-program.ts',
] as const
type Program = (typeof PROGRAMS)[number]

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))

/** Names the directory that all files of a run share: compiling takes seconds of a slow processor. */
export const SHARED_PACKAGE = 'POSTRIDER_TEST_PACKAGE'
const BUILD_MS = 300_000

export async function buildPackage(): Promise<BuiltPackage> {
  const shared = process.env[SHARED_PACKAGE]
  const directory = shared ?? mkdtempSync(join(tmpdir(), 'postrider-package-'))
  // What is shared goes with the run.
  const remove = () => shared ?? rmSync(directory, { recursive: true, force: true })
  try {
    await buildOnce(directory, () => build(directory))
  } catch (error) {
    remove()
    throw error
  }
  return {
    directory,
    cli: join(directory, 'dist/cli/main.js'),
    program: (name) => join(directory, 'bundled', name.replace(/\.ts$/, '.js')),
    remove,
  }
}

async function build(directory: string): Promise<void> {
  const compiler = ['--import', 'tsx', 'test/support/compile-package.ts', directory, ...PROGRAMS]
  // Vitest calls this a test, and packages would be bundled with what they have for one.
  const env = { ...process.env, NODE_ENV: 'production' }
  await promisify(execFile)(process.execPath, compiler, { cwd: REPOSITORY, env })
}

/** The first to ask builds, and the others wait for it; how it went is noted in the directory. */
export async function buildOnce(directory: string, make: () => Promise<void>): Promise<void> {
  const [built, failed] = [join(directory, 'built'), join(directory, 'failed')]
  try {
    mkdirSync(join(directory, 'building'))
  } catch {
    await until('somebody else has built it', () => existsSync(built) || existsSync(failed), { withinMs: BUILD_MS })
    if (existsSync(failed)) throw new Error(`It could not be built: ${readFileSync(failed, 'utf8')}`)
    return
  }
  try {
    await make()
    writeFileSync(built, '')
  } catch (error) {
    writeFileSync(failed, String(error))
    throw error
  }
}
