import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

it('the first snippet of the README works as it is written', async () => {
  const snippet = /```ts\n(import [\s\S]*?)```/.exec(readFileSync(`${root}README.md`, 'utf8'))?.[1]
  expect(snippet).toBeDefined()
  await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: root })
  // Inside the package, so that its own name resolves to what was built; ignored by git.
  const directory = mkdtempSync(`${root}.readme-`)
  try {
    writeFileSync(`${directory}/snippet.ts`, snippet!)
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', `${directory}/snippet.ts`], {
      cwd: directory,
    })
    expect(stdout).toBe('accepted: scheduled\nthe same email: true\nnow: sent\n')
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}, 240_000)
