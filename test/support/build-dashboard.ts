import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { buildOnce, SHARED_PACKAGE } from './build-package.js'

/** The dashboard as it is shipped. */
export interface DashboardBuild {
  /** Where it will be: known before it is there, for those who only pass it on. */
  readonly directory: string
  make(): Promise<void>
  remove(): void
}

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))

/** In the package that all files of a run share, where a package has it; so it is built once. */
export function planDashboard(): DashboardBuild {
  const shared = process.env[SHARED_PACKAGE]
  const home = shared ?? mkdtempSync(join(tmpdir(), 'postrider-dashboard-'))
  const directory = join(home, 'dist/dashboard')
  const build = async () => {
    const options = ['build', 'dashboard', '--outDir', directory, '--logLevel', 'error']
    // Vitest calls this a test, and React would be built with all it has for developers.
    const env = { ...process.env, NODE_ENV: 'production' }
    await promisify(execFile)(process.execPath, ['node_modules/vite/bin/vite.js', ...options], { cwd: REPOSITORY, env })
  }
  return {
    directory,
    async make() {
      const notes = join(home, 'dashboard-build')
      mkdirSync(notes, { recursive: true })
      await buildOnce(notes, build)
    },
    remove: () => shared ?? rmSync(home, { recursive: true, force: true }),
  }
}
