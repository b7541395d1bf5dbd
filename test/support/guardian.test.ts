import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { answersRedis } from './services/redis-probe.js'

test('a private server ends with the process that started it, even one killed without warning', async () => {
  const owner = spawn(
    process.execPath,
    [...process.execArgv, fileURLToPath(new URL('./fixtures/die-with-server.ts', import.meta.url))],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const [line] = (await once(owner.stdout, 'data')) as [Buffer]
  const { url, directory } = JSON.parse(line.toString()) as { url: string; directory: string }
  expect(await answersRedis(url)).toBe(true)
  owner.kill('SIGKILL')
  await once(owner, 'exit')
  await vi.waitFor(() => expect(existsSync(directory)).toBe(false), 10_000)
  expect(await answersRedis(url)).toBe(false)
})
