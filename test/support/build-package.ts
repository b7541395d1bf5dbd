import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import ts from 'typescript'

/** The package as it is shipped, compiled into a directory of its own: what a test starts is what a user starts. */
export interface BuiltPackage {
  readonly directory: string
  /** The command line's entry file. */
  readonly cli: string
  remove(): void
}

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))

/**
 * `programs` are files of the repository that a test starts as processes. They are compiled beside the package, because
 * a process that has to compile its own TypeScript takes a second to start instead of a fraction of one.
 */
export async function buildPackage(programs: readonly string[] = []): Promise<BuiltPackage> {
  const directory = mkdtempSync(join(tmpdir(), 'postrider-package-'))
  const remove = () => rmSync(directory, { recursive: true, force: true })
  try {
    // Types are checked by `npm run check`; what is emitted is the same.
    const options = ['-p', 'tsconfig.build.json', '--outDir', join(directory, 'dist'), '--noCheck']
    await promisify(execFile)(process.execPath, ['node_modules/typescript/bin/tsc', ...options], { cwd: REPOSITORY })
    copyFileSync(join(REPOSITORY, 'package.json'), join(directory, 'package.json'))
    for (const name of ['migrations', 'node_modules']) symlinkSync(join(REPOSITORY, name), join(directory, name))
    // The programs say `../../src/…`.
    symlinkSync('dist', join(directory, 'src'))
    for (const program of programs) compile(program, directory)
  } catch (error) {
    remove()
    throw error
  }
  return { directory, cli: join(directory, 'dist/cli/main.js'), remove }
}

function compile(program: string, directory: string): void {
  const { outputText } = ts.transpileModule(readFileSync(join(REPOSITORY, program), 'utf8'), {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
  })
  const output = join(directory, program.replace(/\.ts$/, '.js'))
  mkdirSync(dirname(output), { recursive: true })
  writeFileSync(output, outputText)
}
