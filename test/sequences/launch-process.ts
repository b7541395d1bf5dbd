import { type ChildProcess, spawn } from 'node:child_process'
import type { BuiltPackage } from '../support/build-package.js'
import type { FromLauncher, LaunchSettings } from './launch-program.js'

/** One process running launch-program.ts. */
export interface LaunchProcess {
  readonly ready: Promise<void>
  /** Rejects when the process ends before it has answered. */
  post(path: string, body?: unknown): Promise<{ readonly status: number; readonly body: Record<string, unknown> }>
  tick(): Promise<void>
  /** The exit code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>
  kill(): Promise<void>
  stop(): Promise<void>
}

const LOG_TAIL = 20_000

export function startLauncher(built: BuiltPackage, settings: LaunchSettings): LaunchProcess {
  const child: ChildProcess = spawn(
    process.execPath,
    [built.program('test/sequences/launch-program.ts'), JSON.stringify(settings)],
    { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], env: { PATH: process.env['PATH'] } },
  )
  let log = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-LOG_TAIL)))
  const waiting = new Map<number, { resolve: (message: FromLauncher) => void; reject: (error: Error) => void }>()
  let asked = 0
  const answerTo = (id: number) => new Promise<FromLauncher>((resolve, reject) => waiting.set(id, { resolve, reject }))
  const ready = answerTo(0)
  child.on('message', (message: FromLauncher) => {
    waiting.get(message.id)?.resolve(message)
    waiting.delete(message.id)
  })
  const exited = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('exit', (code, signal) => {
      const how = code ?? signal!
      for (const { reject } of waiting.values()) reject(new Error(`The launcher ended (${how}).\n${log}`))
      waiting.clear()
      resolve(how)
    }),
  )
  const ask = (what: object) => {
    const id = ++asked
    const answer = answerTo(id)
    child.send({ id, ...what })
    return answer
  }
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await exited
  }
  // A test that kills it early does not care that it never became ready.
  ready.catch(() => undefined)
  return {
    ready: ready.then(() => undefined),
    exited,
    async post(path, body = {}) {
      const { status, body: said } = await ask({ ask: 'post', path, body })
      return { status: status!, body: said as Record<string, unknown> }
    },
    async tick() {
      await ask({ ask: 'tick' })
    },
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}
