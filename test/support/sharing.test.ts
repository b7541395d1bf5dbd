import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { SHARING } from './sharing.js'

const TESTS = fileURLToPath(new URL('..', import.meta.url))
const HOOK_OF_A_MODULE = /^(?:before|after)(?:Each|All)\(/m

it('what test files of one process share registers its hooks when it is asked, not when it is loaded', () => {
  const folders = [...SHARING, 'support', 'support/services'].map((name) => join(TESTS, name))
  const modules = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map((name) => join(folder, name)),
  )
  const hooking = modules.filter((path) => HOOK_OF_A_MODULE.test(readFileSync(path, 'utf8')))
  // Vitest runs a setup file once more for every file.
  expect(hooking).toEqual([join(TESTS, 'support/leak-check.ts')])
})
