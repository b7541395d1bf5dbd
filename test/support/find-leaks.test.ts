import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openForGood, persistingLeaks, watchForLeaks } from './find-leaks.js'
import { fileDatabase } from './services/file-database.js'

test('a socket, a server, a child process and a thread left open are each named', async () => {
  const watch = watchForLeaks()
  onTestFinished(() => watch.end())
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const accepting = once(server, 'connection')
  const socket = connect(port, '127.0.0.1')
  await accepting
  const child = spawn('sleep', ['60'], { stdio: 'ignore' })
  const worker = new Worker('setInterval(() => {}, 60_000)', { eval: true })
  await once(worker, 'online')

  expect(watch.findLeaks()).toEqual(
    expect.arrayContaining([
      `server listening on 127.0.0.1:${port}`,
      expect.stringMatching(new RegExp(`^socket from 127.0.0.1:\\d+ to 127.0.0.1:${port}$`)),
      `child process ${child.pid} (sleep 60)`,
      `worker thread ${worker.threadId}`,
    ]),
  )

  socket.destroy()
  server.close()
  child.kill()
  await worker.terminate()
  expect(await persistingLeaks(async () => watch.findLeaks(), 2000)).toEqual([])
})

test('a connection to PostgreSQL left open is named by its port', async () => {
  const watch = watchForLeaks()
  onTestFinished(() => watch.end())
  const client = new pg.Client(await fileDatabase())
  await client.connect()
  const leaks = await persistingLeaks(async () => watch.findLeaks(), 50)
  await client.end()
  expect(leaks).toEqual([expect.stringMatching(/^(socket from .* to .*:\d+|pipe or unix socket)$/)])
})

test('what was open before the watch began is nobody’s leak', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const watch = watchForLeaks()
  onTestFinished(() => watch.end())
  expect(await persistingLeaks(async () => watch.findLeaks(), 500)).toEqual([])
  server.close()
})

test('nor is what was opened for good; what is opened afterwards is', async () => {
  const watch = watchForLeaks()
  onTestFinished(() => watch.end())
  const listen = async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return server
  }
  const kept = await openForGood(listen)
  expect(watch.findLeaks()).toEqual([])
  const leaked = await listen()
  expect(watch.findLeaks()).toEqual([`server listening on 127.0.0.1:${(leaked.address() as AddressInfo).port}`])
  for (const server of [kept, leaked]) server.close()
})
