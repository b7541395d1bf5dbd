import { spawn } from 'node:child_process'
import type { BuiltPackage } from '../support/build-package.js'
import type { Door } from './judge.js'
import type { FromMail, MailSettings } from './mail-program.js'
import { QUICK_START } from '../support/quick-start.js'

/** One process running mail-program.ts, with its own door to the judge. */
export interface MailProcess {
  readonly door: Door
  readonly pid: number
  readonly isReady: boolean
  readonly isRunning: boolean
  /** Where it accepts emails, once it is ready. */
  readonly url: string | null
  /** Rejects, quoting its log, when it ends instead. */
  readonly ready: Promise<void>
  /** Resolves with its exit code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>
  /** The system call is made before this returns: whatever the process was about to do, it does not. */
  signal(name: NodeJS.Signals): void
  kill(): Promise<void>
  /** SIGTERM, and wait. */
  stop(): Promise<number | NodeJS.Signals>
  log(): string
}

export interface MailProcessOptions {
  /** Loaded first, such as a clock that is wrong. */
  readonly preload?: string
  readonly env?: Readonly<Record<string, string>>
}

const LOG_TAIL = 20_000

export function startMail(
  built: BuiltPackage,
  door: Door,
  settings: Omit<MailSettings, 'smtpPort'>,
  { preload, env }: MailProcessOptions = {},
): MailProcess {
  const child = spawn(
    process.execPath,
    [
      QUICK_START,
      ...(preload ? ['--import', preload] : []),
      built.program('test/kill/mail-program.ts'),
      JSON.stringify({ ...settings, smtpPort: door.port }),
    ],
    { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], env: { PATH: process.env['PATH'], ...env } },
  )
  let log = ''
  let url: string | null = null
  let isReady = false
  let isRunning = true
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-LOG_TAIL)))
  const exited = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('exit', (code, signal) => {
      isRunning = false
      door.close()
      resolve(code ?? signal!)
    }),
  )
  const ready = new Promise<void>((resolve, reject) => {
    child.once('message', (message: FromMail) => {
      isReady = true
      url = message.url
      resolve()
    })
    child.once('error', reject)
    void exited.then((how) => reject(new Error(`${door.name} ended (${how}) before it was ready.\n${log}`)))
  })
  // A test that kills a process early does not care that it never became ready.
  ready.catch(() => undefined)
  return {
    door,
    pid: child.pid!,
    ready,
    exited,
    log: () => log,
    get isReady() {
      return isReady && isRunning
    },
    get isRunning() {
      return isRunning
    },
    get url() {
      return isRunning ? url : null
    },
    signal: (name) => void child.kill(name),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    async stop() {
      child.kill('SIGTERM')
      return exited
    },
  }
}
