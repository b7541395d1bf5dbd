import { spawn } from 'node:child_process'
import { chownSync, mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { UnprivilegedUser } from './unprivileged-user.js'

/** The temporary home of one private server, which does not outlive the process that made it. */
export interface ServerDirectory {
  path: string
  /** Tells the guardian which process groups to end, replacing what it was told before. */
  guard(groups: number[]): void
  remove(): Promise<void>
}

/**
 * A test process can end without running any of its own clean-up: Ctrl-C, a crash, SIGKILL by an impatient runner.
 * So each directory has a guardian: a shell, in a session of its own, that reads from a pipe we hold open and never
 * write to. However we end, the kernel closes the pipe; the guardian then ends the server and removes the directory.
 * SIGQUIT goes first because PostgreSQL's children sit in sessions of their own and only the postmaster can reach
 * them; what ignores it is killed.
 */
const guardianScript = `
read -r _
groups=$(cat "$1/groups" 2>/dev/null)
for group in $groups; do kill -s QUIT -- "-$group" 2>/dev/null; done
for group in $groups; do
  tries=0
  while kill -s 0 -- "-$group" 2>/dev/null && [ $tries -lt 30 ]; do sleep 0.1; tries=$((tries + 1)); done
  kill -s KILL -- "-$group" 2>/dev/null
done
rm -rf -- "$1"
`

export function createServerDirectory(name: string, owner: UnprivilegedUser | null): ServerDirectory {
  // Under root the server runs as somebody else, who can reach /tmp but perhaps not root's own TMPDIR.
  const path = mkdtempSync(join(owner ? '/tmp' : tmpdir(), `postrider-${name}-`))
  if (owner) chownSync(path, owner.uid, owner.gid)
  const guardian = spawn('/bin/sh', ['-c', guardianScript, 'guardian', path], {
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guardian.unref()
  // Neither the guardian nor its pipe may keep a finished test process alive; sockets know unref, Writable does not.
  ;(guardian.stdin as unknown as { unref(): void }).unref()
  guardian.stdin.on('error', () => {})

  let removed = false
  return {
    path,
    guard(groups) {
      if (removed) return
      writeFileSync(join(path, 'groups'), groups.join('\n'))
    },
    async remove() {
      removed = true
      await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
      // The list is gone with the directory, so waking the guardian now only sends it home.
      guardian.stdin.end()
    },
  }
}
