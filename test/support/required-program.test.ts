import { expect, test } from 'vitest'
import { type RequiredProgram, requireProgram } from './services/required-program.js'

test('a program that is there is not installed again', async () => {
  const installed: string[] = []
  const path = await requireProgram(
    pigeon(() => '/usr/bin/pigeond'),
    async (name) => {
      installed.push(name)
      return null
    },
  )
  expect({ path, installed }).toEqual({ path: '/usr/bin/pigeond', installed: [] })
})

test('a program that is missing is installed', async () => {
  let path: string | null = null
  const required = requireProgram(
    pigeon(() => path),
    async (name) => {
      path = `/usr/bin/${name}`
      return null
    },
  )
  expect(await required).toBe('/usr/bin/pigeond')
})

test('one that cannot be installed is an error of one sentence, which says what to install', async () => {
  const required = requireProgram(
    pigeon(() => null),
    async () => 'it is installed by itself only for root',
  )
  await expect(required).rejects.toThrow(
    'The tests need Pigeon: install it (on Debian and Ubuntu the package pigeond), ' +
      'or name a running one in TEST_PIGEON_URL (it is installed by itself only for root).',
  )
})

function pigeon(find: () => string | null): RequiredProgram<string> {
  return { name: 'Pigeon', find, debianPackage: 'pigeond', variable: 'TEST_PIGEON_URL' }
}
