/**
 * Compiles the package into the directory it is given: as it is shipped, file by file, and beside that, each with all it
 * loads in a few files, the programs named after it. Started by build-package.ts, in a process of its own: what it takes
 * to compile is loaded by one, and not by every process that may be the one.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin, transformWithOxc } from 'vite'

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))
const SOURCE = join(REPOSITORY, 'src')
/** Packages that find files of their own beside themselves, or are not everybody's. */
const ON_THEIR_OWN = [
  '@electric-sql/pglite',
  '@css-inline/css-inline',
  'bullmq',
  'ioredis',
  'rabbitmq-client',
  'pg-native',
]

const [directory, ...programs] = process.argv.slice(2) as [string, ...string[]]

const compiled = (file: string) => join(directory, 'dist', file.replace(/\.ts$/, '.js'))

/** Types are checked by `npm run check`; without them what is left is what tsc would emit. */
async function compile(): Promise<void> {
  for (const file of readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue
    const source = readFileSync(join(SOURCE, file), 'utf8')
    const { code } = await transformWithOxc(source, join(SOURCE, file), {
      typescript: { onlyRemoveTypeImports: true },
      sourcemap: false,
    })
    mkdirSync(dirname(compiled(file)), { recursive: true })
    writeFileSync(compiled(file), code)
  }
  copyFileSync(join(REPOSITORY, 'package.json'), join(directory, 'package.json'))
  for (const name of ['migrations', 'node_modules']) symlinkSync(join(REPOSITORY, name), join(directory, name))
}

/** Wherever it is bundled, a file says that it is where it was compiled to: migrations and threads are found from there. */
const whereItWas: Plugin = {
  name: 'where-it-was',
  enforce: 'pre',
  transform(code, id) {
    if (!id.startsWith(`${SOURCE}/`) || !code.includes('import.meta.url')) return null
    const url = pathToFileURL(compiled(id.slice(SOURCE.length + 1))).href
    return { code: code.replaceAll('import.meta.url', JSON.stringify(url)), map: null }
  },
}

async function bundle(): Promise<void> {
  const entries = programs.map((program) => [program.replace(/\.ts$/, ''), join(REPOSITORY, program)])
  await build({
    configFile: false,
    root: REPOSITORY,
    logLevel: 'warn',
    plugins: [whereItWas],
    ssr: { noExternal: true, external: ON_THEIR_OWN },
    build: {
      ssr: true,
      target: 'node20',
      minify: false,
      emptyOutDir: false,
      outDir: join(directory, 'bundled'),
      rolldownOptions: { input: Object.fromEntries(entries) as Record<string, string> },
    },
  })
}

await compile()
await bundle()
