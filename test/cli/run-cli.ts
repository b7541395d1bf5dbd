import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BuiltPackage } from '../support/build-package.js'
import type { FromHost, ToHost } from './host-program.js'
import { QUICK_START } from '../support/quick-start.js'

/** The command line in a process of its own, in an empty directory and with no settings but those given. */
export interface CliProcess {
  readonly pid: number
  stdout(): string
  stderr(): string
  signal(name: NodeJS.Signals): void
  readonly exited: Promise<number | NodeJS.Signals>
}

export interface CliResult {
  readonly code: number | NodeJS.Signals
  readonly stdout: string
  readonly stderr: string
}

export interface Cli {
  start(args: readonly string[], env?: Record<string, string>, input?: string): CliProcess
  /** `input` is what it finds on standard input; without it that is empty. */
  run(args: readonly string[], env?: Record<string, string>, input?: string): Promise<CliResult>
  /** Where it runs: `.env` and `./.postrider` are looked for here. */
  readonly directory: string
  /** Ends what is still running and removes the directory. */
  close(): Promise<void>
}

export interface CliOptions {
  /** What it starts works for minutes, and is worth being compiled for that. */
  readonly lasting?: boolean
  /** File by file, as a user has it; bundled it is the same and starts in half of the time. */
  readonly asShipped?: boolean
}

export function openCli(built: BuiltPackage, { lasting = false, asShipped = false }: CliOptions = {}): Cli {
  const entry = asShipped ? built.cli : built.program('src/cli/main.ts')
  const directory = mkdtempSync(join(tmpdir(), 'postrider-cli-'))
  const running = new Set<CliProcess>()
  const start: Cli['start'] = (args, env = {}, input = '') => {
    const child = spawn(process.execPath, [...(lasting ? [] : [QUICK_START]), entry, ...args], {
      cwd: directory,
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    // Most commands end without having read it.
    child.stdin.on('error', () => undefined).end(input)
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    const cli: CliProcess = {
      pid: child.pid!,
      stdout: () => stdout,
      stderr: () => stderr,
      signal: (name) => void child.kill(name),
      // Closed, and not only exited: all it said has arrived.
      exited: new Promise((resolve) =>
        child.once('close', (code, signal) => {
          running.delete(cli)
          resolve(code ?? signal!)
        }),
      ),
    }
    running.add(cli)
    return cli
  }
  return {
    directory,
    start,
    async run(args, env, input) {
      const cli = start(args, env, input)
      const code = await cli.exited
      return { code, stdout: cli.stdout(), stderr: cli.stderr() }
    },
    async close() {
      const left = [...running]
      for (const cli of left) cli.signal('SIGKILL')
      await Promise.all(left.map(({ exited }) => exited))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** The same, but what it runs it runs in one process, one after the other: host-program.ts says what that still shows. */
export function openHostedCli(built: BuiltPackage, endsWithinMs = 10_000): Cli {
  const cli = openCli(built)
  const program = built.program('test/cli/host-program.ts')
  const host = spawn(process.execPath, [QUICK_START, program, built.cli, String(endsWithinMs)], {
    cwd: cli.directory,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ended = new Promise<never>((_, reject) =>
    host.once('exit', (code, signal) => reject(new Error(`A command ended the process it ran in: ${code ?? signal}.`))),
  )
  // Closing it is how it usually ends.
  ended.catch(() => undefined)
  const ask = async (question: ToHost): Promise<CliResult> => {
    host.send(question)
    const [{ left, ...result }] = (await Promise.race([once(host, 'message'), ended])) as [FromHost]
    if (left.length > 0) throw new Error(`postrider ${question.args.join(' ')} would not end: ${left.join(', ')}.`)
    return result
  }
  let last: Promise<unknown> = Promise.resolve()
  return {
    ...cli,
    run(args, env = {}, input = '') {
      const result = last.then(() => ask({ args, env: { PATH: process.env['PATH']!, ...env }, input }))
      last = result.catch(() => undefined)
      return result
    },
    async close() {
      host.kill('SIGKILL')
      await ended.catch(() => undefined)
      await cli.close()
    },
  }
}
