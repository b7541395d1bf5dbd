import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { startScriptedSmtp } from '../support/scripted-smtp.js'
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

test('a sender is paused with a reason, what it would send waits, and goes out when it is resumed', async () => {
  const from = 'hello@localhost'
  expect(await run('senders', 'pause', from, '--reason', 'the domain moves')).toMatchObject({ code: 0 })
  const listed = await run('senders', 'list')
  expect(listed.stdout).toMatch(/hello@localhost.+paused.+the domain moves/)

  const sent = await run('send', '--to', 'ada@example.com', '--subject', 'Waits', '--text', 'Waits', '--json')
  const { id } = JSON.parse(sent.stdout) as { id: string }
  const statusOf = async () => {
    expect(await run('tick', '--for', '10s')).toMatchObject({ code: 0 })
    return (JSON.parse((await run('emails', 'show', id, '--json')).stdout) as { status: string }).status
  }
  expect(await statusOf()).toBe('scheduled')
  const resumed = await run('senders', 'resume', from, '--json')
  expect(JSON.parse(resumed.stdout)).toMatchObject({ object: 'sender', paused_at: null })
  expect(await statusOf()).toBe('sent')
})

test('a sender is tested without sending: how far it came is said, and is the exit code', async () => {
  expect(await run('senders', 'test', 'nobody@localhost')).toMatchObject({ code: 3 })
  const inbox = await run('senders', 'test', 'hello@localhost')
  expect(inbox).toMatchObject({ code: 0, stdout: expect.stringContaining('dev inbox') as string })

  const server = await startScriptedSmtp()
  const at = { ...env, SMTP_URL: `smtp://127.0.0.1:${server.port}?starttls=off` }
  // Whoever sends says how its mail goes out; a test only asks.
  expect(await cli.run(['tick', '--for', '1s'], at)).toMatchObject({ code: 0 })
  const works = await cli.run(['senders', 'test', 'hello@localhost'], at)
  expect(works).toMatchObject({ code: 0, stdout: expect.stringContaining('can send') as string })
  await server.close()
  const fails = await cli.run(['senders', 'test', 'hello@localhost'], at)
  expect(fails).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot send (connect') as string })
  expect(server.taken).toEqual([])
})
