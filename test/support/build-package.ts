import { execFile } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import ts from 'typescript'
import { until } from './until.js'

/** The package as it is shipped, compiled into a directory of its own: what a test starts is what a user starts. */
export interface BuiltPackage {
  readonly directory: string
  /** The command line's entry file. */
  readonly cli: string
  remove(): void
}

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))

/** Names the directory that all files of a run share: compiling takes ten seconds of a slow processor. */
export const SHARED_PACKAGE = 'POSTRIDER_TEST_PACKAGE'
const BUILD_MS = 300_000

/**
 * `programs` are files of the repository that a test starts as processes. They are compiled beside the package, because
 * a process that has to compile its own TypeScript takes a second to start instead of a fraction of one.
 */
export async function buildPackage(programs: readonly string[] = []): Promise<BuiltPackage> {
  const shared = process.env[SHARED_PACKAGE]
  const directory = shared ?? mkdtempSync(join(tmpdir(), 'postrider-package-'))
  // What is shared goes with the run.
  const remove = () => shared ?? rmSync(directory, { recursive: true, force: true })
  try {
    await (shared === undefined ? build(directory) : buildOnce(directory, () => build(directory)))
    for (const program of programs) compile(program, directory)
  } catch (error) {
    remove()
    throw error
  }
  return { directory, cli: join(directory, 'dist/cli/main.js'), remove }
}

async function build(directory: string): Promise<void> {
  // Types are checked by `npm run check`; what is emitted is the same.
  const options = ['-p', 'tsconfig.build.json', '--outDir', join(directory, 'dist'), '--noCheck']
  await promisify(execFile)(process.execPath, ['node_modules/typescript/bin/tsc', ...options], { cwd: REPOSITORY })
  copyFileSync(join(REPOSITORY, 'package.json'), join(directory, 'package.json'))
  for (const name of ['migrations', 'node_modules']) symlinkSync(join(REPOSITORY, name), join(directory, name))
  // The programs say `../../src/…`.
  symlinkSync('dist', join(directory, 'src'))
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

function compile(program: string, directory: string): void {
  const { outputText } = ts.transpileModule(readFileSync(join(REPOSITORY, program), 'utf8'), {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
  })
  const output = join(directory, program.replace(/\.ts$/, '.js'))
  mkdirSync(dirname(output), { recursive: true })
  // Somebody else may be starting the same program from here: it is there whole, or not yet.
  writeFileSync(`${output}.${process.pid}`, outputText)
  renameSync(`${output}.${process.pid}`, output)
}
