import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerProcess } from './server-process.js'

/**
 * SIGKILL to a server and its direct children, which for PostgreSQL are all its backends, each in a session of its own
 * and so out of reach of a signal to the group. Killing the postmaster alone would let a busy backend finish and
 * commit its statement, and a new postmaster refuses to start while an old backend holds the shared memory.
 */
export async function killWithChildren(server: ServerProcess): Promise<void> {
  // A stopped parent cannot fork a child that the list would miss.
  server.signal('SIGSTOP')
  const children = listProcesses()
    .filter(({ parent }) => parent === server.pid)
    .map(({ pid }) => pid)
  for (const pid of children) killIfAlive(pid)
  await server.kill()
  while (listProcesses().some(({ pid, isZombie }) => children.includes(pid) && !isZombie)) await sleep(5)
}

function listProcesses(): { pid: number; parent: number; isZombie: boolean }[] {
  if (process.platform !== 'linux') {
    return execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .map(([pid, parent, state]) => ({
        pid: Number(pid),
        parent: Number(parent),
        isZombie: state?.startsWith('Z') ?? false,
      }))
  }
  // Slim images come without ps.
  return readdirSync('/proc')
    .map(Number)
    .filter(Number.isInteger)
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
        // The program's name, in parentheses, may itself hold spaces and parentheses.
        const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        return [{ pid, parent: Number(parent), isZombie: state === 'Z' }]
      } catch {
        return []
      }
    })
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
