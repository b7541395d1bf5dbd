import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

const greeter = new URL('./fixtures/greeter.js', import.meta.url)

test('a worker thread named by its .js runs from the .ts, as the built program will from the .js', async () => {
  const worker = new Worker(greeter)
  const [message] = (await once(worker, 'message')) as [string]
  await once(worker, 'exit')
  expect(message).toBe('1 passed, 0 failed')
})

test('so does a forked process', async () => {
  const child = fork(fileURLToPath(greeter))
  const [message] = (await once(child, 'message')) as [string]
  child.disconnect()
  await once(child, 'exit')
  expect(message).toBe('1 passed, 0 failed')
})
