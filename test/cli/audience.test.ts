import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { fileDatabase } from '../support/services/file-database.js'
import { type Cli, openHostedCli } from './run-cli.js'

/** A story of processes, each a second on a busy machine. */
vi.setConfig({ testTimeout: 120_000 })

let built: BuiltPackage
let cli: Cli
let env: Record<string, string>

beforeAll(async () => {
  built = await buildPackage()
  cli = openHostedCli(built)
  env = { DATABASE_URL: await fileDatabase(), POSTRIDER_SECRET: 'the same for every process', LOG_LEVEL: 'silent' }
  expect((await cli.run(['migrate'], env)).code).toBe(0)
})
afterAll(async () => {
  await cli.close()
  built.remove()
})

const run = (...args: string[]) => cli.run(args, env)
async function read(...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await run(...args, '--json')
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
  return JSON.parse(stdout) as Record<string, unknown>
}
function file(name: string, text: string): string {
  const path = join(cli.directory, name)
  writeFileSync(path, text)
  return path
}

test('a file becomes a list: with its mistakes named by line, nothing written by a rehearsal, and out again', async () => {
  const people = file(
    'people.csv',
    'Kontakt,Vorname,Notes\nada@example.com,Ada,x\nnot an address,Bob,x\nADA@example.com,Ada L.,x\n"grace@example.com",=1+1,x\n',
  )
  const missing = await run('import', people, '--list', 'News', '--map', 'Kontakt=email')
  expect(missing).toMatchObject({ code: 3 })
  expect(missing.stderr).toContain('--create-list')

  const flags = ['--list', 'News', '--create-list', '--map', 'Kontakt=email', '--map', 'Notes=-']
  expect(await read('import', people, ...flags, '--dry-run')).toMatchObject({ refused: 1 })
  expect(await read('lists', 'list')).toMatchObject({ data: [] })

  expect(await read('import', people, ...flags)).toMatchObject({
    status: 'done',
    rows_read: 4,
    created: 2,
    joined: 2,
    repeated: 1,
    refused: 1,
    problems: [{ line: 3 }],
  })
  const said = await run('import', people, ...flags)
  expect(said.code).toBe(0)
  expect(said.stdout + said.stderr).toMatch(/line 3/i)

  const shown = await run('lists', 'show', 'News')
  expect(shown.code).toBe(0)
  expect(shown.stdout).toContain('News')
  const exported = await run('lists', 'export', 'News')
  expect(exported.code).toBe(0)
  expect(exported.stdout).toContain('ADA@example.com')
  // A spreadsheet that opens it must not calculate what somebody wrote into a form.
  expect(exported.stdout).toContain("'=1+1")
  expect(exported.stdout).not.toContain('not an address')
  expect(readFileSync(people, 'utf8')).toContain('Kontakt')
})

test('standard input, a contact from all sides, and its end', async () => {
  const piped = await cli.run(
    ['import', '-', '--list', 'Piped', '--create-list', '--json'],
    env,
    'email;name;timezone\nlin@example.com;Lin;Mars/Olympus\n',
  )
  expect(piped.code).toBe(0)
  expect(JSON.parse(piped.stdout)).toMatchObject({ created: 1, joined: 1 })
  const { data } = (await read('contacts', 'list', '--q', 'lin@')) as { data: { id: string; timezone: null }[] }
  expect(data).toMatchObject([{ email: 'lin@example.com', timezone: null }])
  const { id } = data[0]!
  expect(await read('contacts', 'show', id)).toMatchObject({ id, name: 'Lin' })
  expect(await run('contacts', 'remove', id)).toMatchObject({ code: 0 })
  expect(await run('contacts', 'show', id)).toMatchObject({ code: 3 })
})

test('a template from files, previewed', async () => {
  const html = file('mail.html', '<p>Hello {{ contact.name }}</p>')
  const made = await read('templates', 'create', 'Welcome', '--subject', 'Hi {{ contact.name }}', '--html', html)
  expect(made).toMatchObject({ object: 'template', name: 'Welcome', version: 1 })
  const preview = await run('templates', 'preview', made['id'] as string, '--json')
  expect(preview.stdout).toContain('contact.name')
  const refused = await run('templates', 'create', 'Broken', '--subject', '{% if %', '--html', html)
  expect(refused.code).toBe(2)
  expect(refused.stderr).not.toContain('    at ')
})

test('who must not be mailed: all of those given or none, found again, and allowed again', async () => {
  const refused = await run('suppressions', 'add', 'ida@example.com', 'nobody')
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('"nobody"') as string })
  expect(await read('suppressions', 'list')).toMatchObject({ data: [] })

  const many = ['Ida <IDA@example.com>', 'ida@example.com', 'joe@example.com']
  expect(await read('suppressions', 'add', ...many, '--detail', 'by phone')).toEqual({ added: 2 })
  expect(await read('suppressions', 'add', 'ida@example.com')).toEqual({ added: 0 })
  expect(await read('suppressions', 'show', 'Ida@example.com')).toMatchObject({
    data: [{ email: 'ida@example.com', scope: 'all', reason: 'manual', detail: 'by phone' }],
  })
  const first = await run('suppressions', 'list', '--limit', '1')
  expect(first.stdout).toContain('ida@example.com')
  expect(first.stdout).not.toContain('joe@example.com')
  expect(first.stderr).toContain('--after ida@example.com')

  expect(await read('suppressions', 'remove', 'ida@example.com', 'joe@example.com')).toEqual({ removed: 2 })
  expect(await run('suppressions', 'remove', 'ida@example.com')).toMatchObject({ code: 3 })
  expect(await run('suppressions', 'show', 'ida@example.com')).toMatchObject({ code: 3 })
  expect(await run('suppressions', 'add', 'ida@example.com', '--scope', 'al')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean "all"') as string,
  })
})
