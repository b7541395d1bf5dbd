import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerDirectory } from './server-directory.js'
import type { UnprivilegedUser } from './unprivileged-user.js'

export interface ServerCommand {
  file: string
  args: string[]
  env?: Record<string, string>
  user: UnprivilegedUser | null
}

/** One running server program, leader of a process group of its own so that a Ctrl-C meant for the tests misses it. */
export interface ServerProcess {
  pid: number
  isRunning(): boolean
  /** Resolves when the program has ended and its parent, this process, has collected it. */
  exited: Promise<void>
  signal(name: NodeJS.Signals): void
  /** SIGKILL to the whole group, and wait. */
  kill(): Promise<void>
  /** Asks again and again until the server answers; fails at once, quoting its log, when the program ends instead. */
  ready(answers: () => Promise<boolean>, timeoutMs?: number): Promise<void>
}

export function launchServer(command: ServerCommand, directory: ServerDirectory): ServerProcess {
  const name = command.file.split('/').at(-1) ?? command.file
  const logPath = join(directory.path, `${name}.log`)
  const log = openSync(logPath, 'a')
  const child = spawn(command.file, command.args, {
    cwd: directory.path,
    detached: true,
    stdio: ['ignore', log, log],
    // HOME inside the directory: Erlang writes its cookie there, and root's own home is closed to other users.
    env: { PATH: process.env.PATH, LANG: 'C.UTF-8', HOME: directory.path, ...command.env },
    ...command.user,
  })
  closeSync(log)
  let failure: Error | null = null
  let running = true
  const exited = new Promise<void>((resolve) => {
    const end = () => {
      running = false
      resolve()
    }
    child.once('error', (error) => {
      failure = error
      end()
    })
    child.once('exit', end)
  })
  // A program that could not be started has no pid; `ready` reports why.
  const pid = child.pid ?? 0

  const signal = (target: number, name: NodeJS.Signals) => {
    if (!running || pid === 0) return
    try {
      process.kill(target, name)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }

  return {
    pid,
    isRunning: () => running,
    exited,
    signal: (name) => signal(pid, name),
    async kill() {
      signal(-pid, 'SIGKILL')
      await exited
    },
    async ready(answers, timeoutMs = 60_000) {
      const deadline = Date.now() + timeoutMs
      while (!(await answers())) {
        if (!running || Date.now() > deadline) {
          const what = running ? `did not answer within ${timeoutMs} ms` : 'ended before it answered'
          const tail = readFileSync(logPath, 'utf8').split('\n').slice(-15).join('\n')
          throw new Error(`A private ${name} ${what}.\n${failure?.message ?? ''}${tail}`)
        }
        await sleep(25)
      }
    },
  }
}
