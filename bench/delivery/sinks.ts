import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { plainError } from '../../test/support/services/plain-error.js'
import { type RoleOptions, startRole } from './start-role.js'

/** A mail server in another process that takes everything and keeps nothing. */
export interface Sink {
  readonly port: number
  /** Resolves when it is gone, with how many messages it took; null from one that does not count. */
  stop(): Promise<number | null>
}

export interface SinkKind {
  readonly description: string
  start(options: RoleOptions): Promise<Sink>
}

/** Postfix's, which costs a fraction of what its clients cost; else ours, which is Node and may be what is measured. */
export function chooseSink(given: string | undefined, postriderUrl: string): SinkKind {
  if (given !== undefined && !isExecutable(given)) throw plainError(`There is no program ${given} for --smtp-sink.`)
  const found = given ?? findOnPath('smtp-sink')
  return found === undefined
    ? { description: 'our own sink (Node)', start: (options) => startOwn(postriderUrl, options) }
    : { description: `${found} (Postfix)`, start: ({ signal }) => startPostfix(found, signal) }
}

async function startOwn(postriderUrl: string, options: RoleOptions): Promise<Sink> {
  const running = startRole('sink', { postriderUrl }, { ...options, profileFile: null })
  const { port } = await running.ready
  return {
    port,
    async stop() {
      running.stop()
      const messages = await running.result.then(
        (result) => result.messages,
        () => null,
      )
      await running.exit()
      return messages
    },
  }
}

const READY_MS = 5_000
const LOOK_MS = 20

async function startPostfix(program: string, signal: AbortSignal): Promise<Sink> {
  const port = await findFreePort()
  // It insists on a user to become when it is started as root, and refuses one otherwise.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn(program, ['-4', '-m', '512', ...user, `127.0.0.1:${port}`, '1024'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let complaint = ''
  child.stderr.on('data', (text) => (complaint += String(text)))
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', (error) => {
      complaint += error.message
      resolve()
    })
  })
  let isGone = false
  void gone.then(() => (isGone = true))
  const stop = async () => {
    signal.removeEventListener('abort', kill)
    kill()
    await gone
    return null
  }
  const kill = () => void child.kill('SIGKILL')
  signal.addEventListener('abort', kill)
  for (const until = performance.now() + READY_MS; !(await answers(port)); await sleep(LOOK_MS)) {
    if (!isGone && performance.now() < until) continue
    await stop()
    throw plainError(`${program} does not answer on port ${port}. ${complaint.trim()}`)
  }
  return { port, stop }
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const heard = await Promise.race([
    once(socket, 'data').then(
      () => true,
      () => false,
    ),
    sleep(1_000, false),
  ])
  socket.destroy()
  return heard
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const findOnPath = (name: string): string | undefined =>
  [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
    .map((directory) => join(directory, name))
    .find((file) => isExecutable(file))

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
