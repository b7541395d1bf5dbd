import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Asked, Told } from './role.js'
import type { ReadyOf, ResultOf, RoleName, TaskOf } from './roles.js'

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url))

export interface Running<Ready, Result> {
  /** Rejects when the process ends before. */
  readonly ready: Promise<Ready>
  /** Rejects when it failed, took too long or was killed. */
  readonly result: Promise<Result>
  /** Asks it to come to an end; `result` says when it has. */
  stop(): void
  /** Resolves when the process is gone. One that has answered is left to end by itself; any other one is killed. */
  exit(): Promise<void>
}

export interface RoleOptions {
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Where to leave a CPU profile of what is measured; null for none, which is faster. */
  readonly profileFile: string | null
}

export function startRole<Name extends RoleName>(
  name: Name,
  task: TaskOf<Name>,
  { timeoutMs, signal, profileFile }: RoleOptions,
): Running<ReadyOf<Name>, ResultOf<Name>> {
  const child = fork(CHILD, { execArgv: ['--import', import.meta.resolve('tsx')] })
  const ask = (asked: Asked) => void (child.connected && child.send(asked, () => undefined))
  const ready = promised<ReadyOf<Name>>()
  const result = promised<ResultOf<Name>>()
  let hasAnswered = false
  const fail = (reason: string) => {
    const error = new Error(`${name}: ${reason}`)
    ready.reject(error)
    result.reject(error)
  }
  const end = (reason: string) => {
    fail(reason)
    child.kill('SIGKILL')
  }
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const timer = setTimeout(() => end(`not finished within ${timeoutMs / 1_000} s.`), timeoutMs)
  const onAbort = () => end('interrupted.')
  signal.addEventListener('abort', onAbort)
  child.on('message', (message) => {
    const told = message as Told<ReadyOf<Name>, ResultOf<Name>>
    if (told.kind === 'ready') return ready.resolve(told.value)
    hasAnswered = true
    if (told.kind === 'result') result.resolve(told.value)
    else fail(told.failure)
  })
  child.once('error', (error) => end(error.message))
  child.once('exit', (code, signalName) => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    fail(`its process ended (${signalName ?? code}) without an answer.`)
  })
  if (signal.aborted) onAbort()
  else ask({ kind: 'begin', name, task, profileFile })

  return {
    ready: ready.promise,
    result: result.promise,
    stop: () => ask({ kind: 'stop' }),
    async exit() {
      if (!hasAnswered) child.kill('SIGKILL')
      await gone
    },
  }
}

function promised<T>() {
  let resolve!: (value: T) => void
  let reject!: (error: Error) => void
  const promise = new Promise<T>((yes, no) => ([resolve, reject] = [yes, no]))
  // It may be looked at later, or never.
  promise.catch(() => undefined)
  return { promise, resolve, reject }
}
