import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { BuiltPackage } from './build-package.js'
import type { FromWorker, Gate, WorkerSettings } from './worker-program.js'
import { QUICK_START } from './quick-start.js'

/** One process running worker-program.ts. */
export interface WorkerProcess {
  readonly pid: number
  readonly isReady: boolean
  readonly isRunning: boolean
  /** Resolves when it works; rejects, quoting its log, when it ends instead. */
  readonly ready: Promise<void>
  /** Resolves with its exit code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>
  /** Actions that wait at a gate now. */
  readonly waiting: ReadonlyMap<string, Gate>
  open(action: string): void
  signal(name: NodeJS.Signals): void
  /** SIGKILL, and wait. */
  kill(): Promise<void>
  /** What it logged, as text. */
  readonly log: () => string
  /** Processor time it has used so far. */
  cpuMs(): number
}

const LOG_TAIL = 20_000
/** The kernel counts in ticks of a hundredth of a second on every Linux that Node runs on. */
const TICK_MS = 10

export function startWorker(built: BuiltPackage, settings: WorkerSettings): WorkerProcess {
  const child = spawn(
    process.execPath,
    [QUICK_START, built.program('test/support/worker-program.ts'), JSON.stringify(settings)],
    { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], env: { PATH: process.env['PATH'] } },
  )
  let log = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-LOG_TAIL)))
  const waiting = new Map<string, Gate>()
  let isReady = false
  let isRunning = true
  const exited = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('exit', (code, signal) => {
      isRunning = false
      resolve(code ?? signal!)
    }),
  )
  const ready = new Promise<void>((resolve, reject) => {
    child.on('message', (message: FromWorker) => {
      if ('ready' in message) {
        isReady = true
        resolve()
      } else waiting.set(message.action, message.gate)
    })
    child.once('error', reject)
    void exited.then((how) => reject(new Error(`A worker ended (${how}) before it was ready.\n${log}`)))
  })
  // A test that kills a worker early does not care that it never became ready.
  ready.catch(() => undefined)
  const pid = child.pid!
  return {
    pid,
    ready,
    exited,
    waiting,
    log: () => log,
    get isReady() {
      return isReady && isRunning
    },
    get isRunning() {
      return isRunning
    },
    open(action) {
      waiting.delete(action)
      child.send({ open: action })
    },
    signal: (name) => void child.kill(name),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    cpuMs() {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS
    },
  }
}
