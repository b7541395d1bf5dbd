import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Report, Task } from './child.js'

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url))

export interface ChildOptions {
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Where to leave a CPU profile; null for none, which is faster. */
  readonly profileDirectory: string | null
}

/** Never throws: a contender that crashes or hangs has failed, and the others still have their turn. */
export function runInChild(task: Task, { timeoutMs, signal, profileDirectory }: ChildOptions): Promise<Report> {
  return new Promise((resolve) => {
    const child = fork(CHILD, {
      execArgv: [
        '--import',
        import.meta.resolve('tsx'),
        ...(profileDirectory ? ['--cpu-prof', '--cpu-prof-dir', profileDirectory] : []),
      ],
    })
    const kill = (failure: string) => {
      resolve({ failure })
      child.kill('SIGKILL')
    }
    const timer = setTimeout(() => kill(`Not finished within ${timeoutMs / 1_000} s.`), timeoutMs)
    const onAbort = () => kill('Interrupted.')
    signal.addEventListener('abort', onAbort)
    let answer: Report | undefined
    child.once('message', (message) => (answer = message as Report))
    child.once('error', (error) => kill(error.message))
    child.once('exit', (code, signalName) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      resolve(answer ?? { failure: `Its process ended (${signalName ?? code}) without an answer.` })
    })
    child.send(task)
  })
}
